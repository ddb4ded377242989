#include "pods/images/media_type.hpp"

#include <algorithm>
#include <array>

namespace ocirun::pods {
namespace {

using enum BlobKind;
using enum Compression;

struct MediaRow {
  std::string_view name;
  MediaType type;
};

constexpr std::array kRows{
    MediaRow{"application/vnd.oci.image.index.v1+json", {kIndex, kNone}},
    MediaRow{"application/vnd.docker.distribution.manifest.list.v2+json", {kIndex, kNone}},
    MediaRow{"application/vnd.oci.image.manifest.v1+json", {kManifest, kNone}},
    MediaRow{"application/vnd.docker.distribution.manifest.v2+json", {kManifest, kNone}},
    MediaRow{"application/vnd.oci.image.config.v1+json", {kConfig, kNone}},
    MediaRow{"application/vnd.docker.container.image.v1+json", {kConfig, kNone}},
    MediaRow{"application/vnd.oci.image.layer.v1.tar", {kLayer, kNone}},
    MediaRow{"application/vnd.oci.image.layer.v1.tar+gzip", {kLayer, kGzip}},
    MediaRow{"application/vnd.oci.image.layer.v1.tar+zstd", {kLayer, kZstd}},
    MediaRow{"application/vnd.docker.image.rootfs.diff.tar", {kLayer, kNone}},
    MediaRow{"application/vnd.docker.image.rootfs.diff.tar.gzip", {kLayer, kGzip}},
    MediaRow{"application/vnd.docker.image.rootfs.diff.tar.zstd", {kLayer, kZstd}},
    MediaRow{"application/vnd.oci.image.layer.nondistributable.v1.tar", {kForeign, kNone}},
    MediaRow{"application/vnd.oci.image.layer.nondistributable.v1.tar+gzip", {kForeign, kGzip}},
    MediaRow{"application/vnd.oci.image.layer.nondistributable.v1.tar+zstd", {kForeign, kZstd}},
    MediaRow{"application/vnd.docker.image.rootfs.foreign.diff.tar", {kForeign, kNone}},
    MediaRow{"application/vnd.docker.image.rootfs.foreign.diff.tar.gzip", {kForeign, kGzip}},
};

}  // namespace

MediaType media_type(std::string_view name) {
  const auto row = std::ranges::find(kRows, name, &MediaRow::name);
  return row == kRows.end() ? MediaType{} : row->type;
}

std::string_view compression_name(Compression compression) {
  switch (compression) {
    case kGzip:
      return "tar+gzip";
    case kZstd:
      return "tar+zstd";
    default:
      return "tar";
  }
}

Compression compression_of(std::string_view first_bytes) {
  if (first_bytes.starts_with("\x1f\x8b")) return kGzip;
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd")) return kZstd;
  // A zstd file may begin with a skippable frame, of magic number 0x184D2A50 to 0x184D2A5F.
  const bool is_skippable = first_bytes.size() >= 4 && first_bytes.substr(1, 3) == "\x2a\x4d\x18" &&
                            (static_cast<unsigned char>(first_bytes[0]) & 0xf0) == 0x50;
  return is_skippable ? kZstd : kNone;
}

}  // namespace ocirun::pods
