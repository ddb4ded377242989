#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/images/digest.hpp"

namespace ocirun::pods {

/// What a media type says of a blob. kForeign: a layer that its publisher does not let others
/// distribute, which a layout need not contain.
enum class BlobKind : std::uint8_t { kIndex, kManifest, kConfig, kLayer, kForeign, kOther };
enum class Compression : std::uint8_t { kNone, kGzip, kZstd };

struct MediaType {
  BlobKind kind = BlobKind::kOther;
  Compression compression = Compression::kNone;  // of a layer
};

/// Knows the media types of the image-spec and their older equals of docker. Any other is kOther.
MediaType media_type(std::string_view name);

/// "tar", "tar+gzip", "tar+zstd"
std::string_view compression_name(Compression compression);

/// Tells from the first bytes of a file how it is compressed. The answer is certain once 4 bytes
/// are there.
Compression compression_of(std::string_view first_bytes);

/// For which machines an image was built (image-index.md, `platform`). The words are those of Go:
/// "linux", "amd64", "arm" with variant "v7".
struct Platform {
  std::string os;
  std::string architecture;
  std::string variant;  // "" if the image says none

  /// The platform of the machine that this program runs on.
  static Platform host();

  /// "linux/arm64/v8"
  std::string text() const;
  friend bool operator==(const Platform&, const Platform&) = default;
};

/// How well an image for `image` suits the machine `machine`: 0 not at all; the best number wins.
/// An arm machine also runs images for earlier variants ("v6" on v7), an amd64 machine those of a
/// lower level ("v2" on v3). Of the machine's level is known only that it is at least the base one.
int suitability(const Platform& image, const Platform& machine);

using Annotations = std::map<std::string, std::string>;

/// One blob that another document refers to (descriptor.md).
struct Descriptor {
  std::string media_type;
  Digest digest{Digest::Algorithm::kSha256, ""};
  std::uint64_t size = 0;  // bytes
  Annotations annotations;
  std::optional<Platform> platform;  // of a manifest in an index
  std::string artifact_type;         // not "": the blob is no container image

  MediaType type() const { return pods::media_type(media_type); }
};

/// An image index (image-index.md), or docker's list of manifests.
struct Index {
  std::string media_type;
  std::vector<Descriptor> manifests;
  Annotations annotations;
};

/// Reads index.json or an index among the blobs. `what` names the document in errors. The mediaType
/// that the index itself has must be one of an index. Errors: those of the JSON reader; a
/// schemaVersion that is not 2; `layers` or `config`, because the document could then be taken for
/// a manifest too.
Result<Index> parse_index(std::string_view what, std::string_view text);

/// An image manifest (manifest.md), or docker's of schema version 2.
struct Manifest {
  std::string media_type;  // "" if the manifest does not say it
  Descriptor config;
  std::vector<Descriptor> layers;  // the base layer first
  Annotations annotations;
};

/// Reads a manifest. `what` names it in errors. Errors: those of the JSON reader; a schemaVersion
/// that is not 2; `manifests`, because the document could then be taken for an index too; an
/// artifactType or a config of another media type than a container image's; a layer that is not
/// distributable, or of an unknown media type.
Result<Manifest> parse_manifest(std::string_view what, std::string_view text);

}  // namespace ocirun::pods
