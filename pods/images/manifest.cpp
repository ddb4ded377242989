#include "pods/images/manifest.hpp"

#include "bundle/json/writer.hpp"
#include "pods/images/read_json.hpp"

namespace ocirun::pods {
namespace {

using bundle::field;
using bundle::fields;
using bundle::in_quotes;
using bundle::required;
using bundle::Value;
using bundle::without_effect;

struct ManifestDocument : Manifest {
  int schema_version = 0;
};

bool read_manifest_type(Value at, std::string& out) {
  if (!bundle::text(at, out)) return false;
  if (media_type(out).kind == BlobKind::kManifest) return true;
  at.problem("must be a media type of a manifest, not {}", bundle::found(at));
  return false;
}

constexpr auto kReadConfig = bundle::checked(read_descriptor, [](Value at, const Descriptor& config) {
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
  TRY_ASSIGN(ManifestDocument document, read_json<ManifestDocument>(what, text, kReadManifest));
  return Manifest(std::move(document));
}

}  // namespace ocirun::pods
