#include "pods/images/manifest.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "bundle/json/read_json.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "pods/images/fields.hpp"

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

namespace {

using bundle::field;
using bundle::fields;
using bundle::required;
using bundle::Value;
using bundle::without_effect;

constexpr auto kPlatform = fields<Platform>(
    required("os", &Platform::os, bundle::text),
    required("architecture", &Platform::architecture, bundle::text),
    field("variant", &Platform::variant, bundle::text), without_effect("os.version"),
    without_effect("os.features"), without_effect("features"));

constexpr auto kDescriptor =
    fields<Descriptor>(required("mediaType", &Descriptor::media_type, bundle::nonempty_text),
                       required("digest", &Descriptor::digest, read_digest),
                       required("size", &Descriptor::size, bundle::range(0, INT64_MAX)),
                       field("annotations", &Descriptor::annotations, read_annotations),
                       field("platform", &Descriptor::platform, kPlatform),
                       field("artifactType", &Descriptor::artifact_type, bundle::text),
                       without_effect("urls"), without_effect("data"));

struct IndexDocument : Index {
  int schema_version = 0;
};

bool read_index_type(Value at, std::string& out) {
  if (!bundle::text(at, out)) return false;
  if (media_type(out).kind == BlobKind::kIndex) return true;
  at.problem("must be a media type of an index, not {}", bundle::found(at));
  return false;
}

constexpr auto kReadIndex = fields<IndexDocument>(
    required("schemaVersion", &IndexDocument::schema_version, read_schema_version),
    field("mediaType", &IndexDocument::media_type, read_index_type),
    required("manifests", &IndexDocument::manifests, bundle::list_of(kDescriptor)),
    field("annotations", &IndexDocument::annotations, read_annotations),
    without_effect("artifactType"), without_effect("subject"),
    foreign_field("layers", "a manifest"), foreign_field("config", "a manifest"),
    foreign_field("fsLayers", "a manifest"));

}  // namespace

bool read_digest(Value at, Digest& out) {
  std::string text;
  if (!bundle::text(at, text)) return false;
  auto digest = Digest::parse(text);
  if (!digest) {
    at.problem("{}", bundle::reason(digest.error()));
    return false;
  }
  out = *std::move(digest);
  return true;
}

bool read_descriptor(Value at, Descriptor& out) { return kDescriptor(at, out); }

bool read_annotations(Value at, Annotations& out) {
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value member : at) {
    std::string text;
    good &= bundle::text(member, text);
    out.emplace(member.key(), std::move(text));
  }
  return good;
}

bool read_schema_version(Value at, int& out) {
  if (!bundle::range(0, INT32_MAX)(at, out)) return false;
  if (out == 2) return true;
  at.problem("must be 2, not {}: images of the first docker registries are not read", out);
  return false;
}

Result<Index> parse_index(std::string_view what, std::string_view text) {
  OCIRUN_TRY_ASSIGN(IndexDocument document,
                    bundle::read_json<IndexDocument>(what, text, kReadIndex));
  return Index(std::move(document));
}

namespace {

using bundle::in_quotes;

struct ManifestDocument : Manifest {
  int schema_version = 0;
};

bool read_manifest_type(Value at, std::string& out) {
  if (!bundle::text(at, out)) return false;
  if (media_type(out).kind == BlobKind::kManifest) return true;
  at.problem("must be a media type of a manifest, not {}", bundle::found(at));
  return false;
}

constexpr auto kReadConfig =
    bundle::checked(read_descriptor, [](Value at, const Descriptor& config) {
      if (config.type().kind != BlobKind::kConfig)
        at.problem_at("mediaType", "{} is no configuration of a container image",
                      in_quotes(config.media_type));
    });

constexpr auto kReadLayer = bundle::checked(read_descriptor, [](Value at, const Descriptor& layer) {
  const BlobKind kind = layer.type().kind;
  if (kind == BlobKind::kForeign)
    at.problem_at(
        "mediaType",
        "{}: a layer that may not be distributed is not in the image, its publisher has it",
        in_quotes(layer.media_type));
  else if (kind != BlobKind::kLayer)
    at.problem_at("mediaType", "{} is no layer: tar, tar+gzip and tar+zstd are read",
                  in_quotes(layer.media_type));
});

bool refuse_artifact(Value at, ManifestDocument&) {
  at.problem("{}: an artifact is no container image", bundle::found(at));
  return false;
}

constexpr auto kReadManifest = fields<ManifestDocument>(
    required("schemaVersion", &ManifestDocument::schema_version, read_schema_version),
    field("mediaType", &ManifestDocument::media_type, read_manifest_type),
    required("config", &ManifestDocument::config, kReadConfig),
    required("layers", &ManifestDocument::layers, bundle::list_of(kReadLayer)),
    field("annotations", &ManifestDocument::annotations, read_annotations),
    bundle::part("artifactType", refuse_artifact), without_effect("subject"),
    foreign_field("manifests", "an index"), foreign_field("fsLayers", "a manifest of version 1"));

}  // namespace

Result<Manifest> parse_manifest(std::string_view what, std::string_view text) {
  OCIRUN_TRY_ASSIGN(ManifestDocument document,
                    bundle::read_json<ManifestDocument>(what, text, kReadManifest));
  return Manifest(std::move(document));
}

}  // namespace ocirun::pods
