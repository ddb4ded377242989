#include "pods/images/descriptor.hpp"

#include "pods/images/read_json.hpp"

namespace ocirun::pods {
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
  TRY_ASSIGN(IndexDocument document, read_json<IndexDocument>(what, text, kReadIndex));
  return Index(std::move(document));
}

}  // namespace ocirun::pods
