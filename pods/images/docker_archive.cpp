#include "pods/images/layout.hpp"

#include <algorithm>
#include <map>

#include "bundle/json/read_json.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/model/reference.hpp"
#include "pods/images/fields.hpp"

namespace ocirun::pods {
namespace {

using bundle::field;
using bundle::in_quotes;
using bundle::required;

struct SavedImage {
  std::string config;
  std::vector<std::string> names, layers;
};

constexpr auto kSavedImage = bundle::fields<SavedImage>(
    required("Config", &SavedImage::config, bundle::nonempty_text),
    field("RepoTags", &SavedImage::names, bundle::texts),
    required("Layers", &SavedImage::layers, bundle::texts), bundle::without_effect("Parent"),
    bundle::without_effect("LayerSources"));

struct Config {
  Digest digest;
  ImageConfig config;
};

Result<Config> parse_config(const std::string& name, const std::string& text) {
  Digest digest = digest_of(text);
  std::string_view base = name;
  base.remove_prefix(base.rfind('/') + 1);
  if (base.ends_with(".json")) base.remove_suffix(5);
  const auto named = Digest::parse(fmt::format("sha256:{}", base));
  if (named && *named != digest)
    return refuse("{}: its content has the digest {}, it was changed or damaged", in_quotes(name),
                  digest.text());
  OCIRUN_TRY_ASSIGN(ImageConfig config, parse_image_config(in_quotes(name), text));
  return Config{std::move(digest), std::move(config)};
}

/// The documents of one archive.
class Archive {
 public:
  explicit Archive(DocumentReader& documents) : documents_(documents) {}

  Result<std::vector<SavedImage>> manifest() {
    OCIRUN_TRY_ASSIGN(const std::string text, documents_.read("manifest.json"));
    return bundle::read_json<std::vector<SavedImage>>("manifest.json", text,
                                                      bundle::list_of(kSavedImage));
  }

  /// Verifies the digest of the file `name`, if the name has it: "HEX.json", or "blobs/sha256/HEX".
  Result<const Config*> config(const std::string& name) {
    if (const auto known = configs_.find(name); known != configs_.end()) return &known->second;
    OCIRUN_TRY_ASSIGN(const std::string text, documents_.read(name));
    OCIRUN_TRY_ASSIGN(Config config, parse_config(name, text));
    return &configs_.emplace(name, std::move(config)).first->second;
  }

 private:
  DocumentReader& documents_;
  std::map<std::string, Config> configs_;  // by name
};

}  // namespace

Result<std::vector<ListedImage>> list_docker_archive(DocumentReader documents) {
  Archive archive(documents);
  OCIRUN_TRY_ASSIGN(const std::vector<SavedImage> saved, archive.manifest());
  std::vector<ListedImage> images;
  for (const SavedImage& image : saved) {
    OCIRUN_TRY_ASSIGN(const Config* const config, archive.config(image.config));
    images.push_back({image.names, config->digest, config->config.platform});
  }
  return images;
}

namespace {

/// The images of `saved` that `wanted` names.
Result<std::vector<const SavedImage*>> matching(Archive& archive, const WantedName& wanted,
                                                const std::vector<SavedImage>& saved) {
  std::vector<const SavedImage*> found;
  for (const SavedImage& image : saved) {
    bool matches = wanted.is_any();
    if (wanted.digest()) {
      OCIRUN_TRY_ASSIGN(const Config* const config, archive.config(image.config));
      matches = config->digest == *wanted.digest();
    } else if (!matches) {
      matches = std::ranges::any_of(image.names, [&](const std::string& name) {
        return wanted.match(name) == WantedName::Match::kWhole;
      });
    }
    if (matches) found.push_back(&image);
  }
  return found;
}

}  // namespace

Result<bool> docker_archive_has(DocumentReader documents, const std::string& reference) {
  Archive archive(documents);
  OCIRUN_TRY_ASSIGN(const std::vector<SavedImage> saved, archive.manifest());
  OCIRUN_TRY_ASSIGN(const auto found, matching(archive, WantedName(reference), saved));
  return !found.empty();
}

Result<Image> find_in_docker_archive(DocumentReader documents, const ManifestChoice& choice) {
  Archive archive(documents);
  OCIRUN_TRY_ASSIGN(const std::vector<SavedImage> saved, archive.manifest());
  const WantedName wanted(choice.reference);
  OCIRUN_TRY_ASSIGN(const std::vector<const SavedImage*> found, matching(archive, wanted, saved));
  std::vector<std::string> names;
  for (const SavedImage& image : saved)
    names.insert(names.end(), image.names.begin(), image.names.end());
  if (found.size() != 1)
    return refuse("{} images{}: the source has {}", found.empty() ? "no" : "several",
                  wanted.is_any() ? "" : " " + in_quotes(wanted.text()),
                  names.empty() ? "no names" : bundle::in_list(names));
  const SavedImage& image = *found.front();
  OCIRUN_TRY_ASSIGN(const Config* const config, archive.config(image.config));
  OCIRUN_TRY(check_image(config->config, image.layers.size(), choice.platform));
  std::vector<LayerBlob> layers;
  for (std::size_t i = 0; i < image.layers.size(); ++i) {
    LayerBlob layer;
    layer.file = image.layers[i];
    layer.diff_id = config->config.diff_ids[i];
    layers.push_back(std::move(layer));
  }
  return Image{config->digest, config->digest, config->config, std::move(layers)};
}

Result<void> check_image(const ImageConfig& config, std::size_t layers, const Platform& platform) {
  if (config.diff_ids.size() != layers)
    return refuse("it has {} layers, its configuration has {} diff_ids", layers,
                  config.diff_ids.size());
  if (suitability(config.platform, platform) == 0)
    return refuse("it is for {}, not for {}", in_quotes(config.platform.text()), platform.text());
  return {};
}

}  // namespace ocirun::pods
