#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/documents/model/digest.hpp"
#include "pods/documents/model/platform.hpp"

namespace ocirun::pods {

/// The kind of a blob, as its media type says it. kForeign: a layer that only its publisher may
/// distribute, and that a layout need not contain.
enum class BlobKind : std::uint8_t { kIndex, kManifest, kConfig, kLayer, kForeign, kOther };
enum class Compression : std::uint8_t { kNone, kGzip, kZstd };

struct MediaType {
  BlobKind kind = BlobKind::kOther;
  Compression compression = Compression::kNone;  // of a layer
};

/// Parses a media type of the image-spec, or docker's older name of it. The kind of any other type
/// is kOther.
MediaType media_type(std::string_view name);

/// The name of a compression in messages: "tar", "tar+gzip" or "tar+zstd".
std::string_view compression_name(Compression compression);

/// Tells from the first bytes of a file how the file is compressed. 4 bytes are enough.
Compression compression_of(std::string_view first_bytes);

using Annotations = std::map<std::string, std::string>;

/// One blob that another document refers to (descriptor.md).
struct Descriptor {
  std::string media_type;
  Digest digest;
  std::uint64_t size = 0;  // bytes
  Annotations annotations;
  std::optional<Platform> platform;  // of a manifest in an index
  std::string artifact_type;         // if not "", the blob is no container image

  MediaType type() const { return pods::media_type(media_type); }
};

/// An image index (image-index.md), or docker's list of manifests.
struct Index {
  std::string media_type;
  std::vector<Descriptor> manifests;
  Annotations annotations;
};

/// Reads index.json, or an index among the blobs. `what` names the document in errors. Errors:
/// those of the JSON reader; a schemaVersion other than 2; a mediaType of something else; `layers`
/// or `config`, because another program could take the document for a manifest.
Result<Index> parse_index(std::string_view what, std::string_view text);

/// An image manifest (manifest.md), or docker's of schema version 2.
struct Manifest {
  std::string media_type;  // "" if the manifest does not say it
  Descriptor config;
  std::vector<Descriptor> layers;  // the base layer first
  Annotations annotations;
};

/// Reads a manifest. `what` names the document in errors. Errors: those of the JSON reader; a
/// schemaVersion other than 2; `manifests`, because another program could take the document for an
/// index; an artifactType or a config of another media type than a container image's; a layer that
/// is not distributable, or has an unknown media type.
Result<Manifest> parse_manifest(std::string_view what, std::string_view text);

}  // namespace ocirun::pods
