// The first byte chooses the document that the rest is: a reference, a manifest, an index, a
// configuration, a digest, the name of a layer's entry. What is accepted must hold its promises.
#include <string>

#include "pods/documents/model/reference.hpp"
#include "pods/images/image_config.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/manifest.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

/// What a reference means does not change when it is written whole.
void try_reference(std::string_view text) {
  const auto reference = Reference::parse(text);
  if (!reference) return;
  const auto again = Reference::parse(reference->text());
  fuzz::require(again.has_value());
  fuzz::require(again->text() == reference->text());
  if (!reference->digest)
    fuzz::require(WantedName(text).match(reference->text()) == WantedName::Match::kWhole);
}

void try_manifest(std::string_view text) {
  const auto manifest = parse_manifest("manifest", text);
  if (!manifest) return;
  for (const Descriptor& layer : manifest->layers) {
    fuzz::require(layer.type().kind == BlobKind::kLayer);
    fuzz::require(Digest::parse(layer.digest.text()).has_value());
  }
}

void try_index(std::string_view text) {
  const auto index = parse_index("index", text);
  if (!index) return;
  for (const Descriptor& descriptor : index->manifests)
    if (descriptor.platform) suitability(*descriptor.platform, Platform::host());
}

void try_config(std::string_view text) {
  const auto config = parse_image_config("configuration", text);
  if (config) fuzz::require(chain_ids(config->diff_ids).size() == config->diff_ids.size());
}

void try_entry_name(std::string_view text) {
  const auto name = parse_entry_name(text, {});
  if (!name) return;
  const std::string path = "/" + name->path() + "/";
  fuzz::require(path.find("/../") == std::string::npos && path.find("/./") == std::string::npos);
  fuzz::require(name->name.find('/') == std::string::npos);
  fuzz::require(name->kind != NameKind::kWhiteout || !name->name.empty());
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  switch (data[0]) {
    case 'r':
      try_reference(text);
      break;
    case 'm':
      try_manifest(text);
      break;
    case 'i':
      try_index(text);
      break;
    case 'c':
      try_config(text);
      break;
    case 'd':
      if (const auto digest = Digest::parse(text)) fuzz::require(digest->text() == text);
      break;
    case 'n':
      try_entry_name(text);
      break;
    default:
      break;
  }
  return 0;
}
