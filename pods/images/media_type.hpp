#pragma once

#include <cstdint>
#include <string_view>

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

}  // namespace ocirun::pods
