#include "pods/images/layout.hpp"

#include <algorithm>

#include "bundle/json/writer.hpp"
#include "pods/images/docker_archive.hpp"
#include "pods/images/image_name.hpp"
#include "pods/images/manifest.hpp"
#include "pods/images/read_json.hpp"

namespace ocirun::pods {
namespace {

using bundle::in_quotes;

constexpr int kMaxNesting = 4;
constexpr std::size_t kMaxManifests = 10'000;
constexpr std::size_t kMaxShown = 20;  // names in an error
constexpr const char* kNameAnnotations[] = {"org.opencontainers.image.ref.name",
                                            "io.containerd.image.name"};

struct LayoutFile {
  std::string version;
};
constexpr auto kLayoutFile = bundle::fields<LayoutFile>(
    bundle::required("imageLayoutVersion", &LayoutFile::version, bundle::text));

Result<std::string> read_document(const SourceFiles& files, const std::string& name) {
  TRY_ASSIGN(const auto stream, files.open(name));
  return within(read_whole(*stream, kMaxDocument), name);
}

std::string blob_name(const Digest& digest) {
  return fmt::format("blobs/{}/{}", digest.algorithm_name(), digest.hex());
}

Result<std::string> read_blob(const SourceFiles& files, const Descriptor& descriptor) {
  TRY_ASSIGN(const auto stream, files.open(blob_name(descriptor.digest)));
  return within(read_verified(*stream, descriptor),
                fmt::format("blob {}", descriptor.digest.text()));
}

/// A document says its media type itself, and its descriptor does: both must agree.
Result<void> check_type(const Descriptor& descriptor, const std::string& own) {
  if (own.empty() || own == descriptor.media_type) return {};
  return refuse("blob {}: its media type is {}, its descriptor says {}", descriptor.digest.text(),
                in_quotes(own), in_quotes(descriptor.media_type));
}

std::vector<std::string> names_of(const Descriptor& descriptor) {
  std::vector<std::string> names;
  for (const char* key : kNameAnnotations) {
    const auto found = descriptor.annotations.find(key);
    if (found != descriptor.annotations.end()) names.push_back(found->second);
  }
  return names;
}

/// One manifest, and how it was found.
struct Leaf {
  Descriptor descriptor;
  std::vector<std::string> names;  // its own, or those of the index around it
  WantedName::Match match;
};

/// Collects the manifests of a layout that may be the wanted image.
class Search {
 public:
  using Match = WantedName::Match;

  Search(const SourceFiles& files, const WantedName& wanted) : files_(files), wanted_(wanted) {}

  Result<void> run(const Index& index) {
    for (const Descriptor& descriptor : index.manifests) {
      std::vector<std::string> names = names_of(descriptor);
      all_names_.insert(all_names_.end(), names.begin(), names.end());
      Match match = wanted_.is_any() ? Match::kWhole : Match::kNone;
      if (!wanted_.digest())
        for (const std::string& name : names) match = std::max(match, wanted_.match(name));
      TRY(visit(descriptor, names, match));
    }
    return {};
  }

  std::vector<Leaf>& leaves() { return leaves_; }
  const std::vector<std::string>& all_names() const { return all_names_; }

 private:
  Result<void> visit(const Descriptor& descriptor, const std::vector<std::string>& names,
                     Match match) {
    if (wanted_.digest() && descriptor.digest == *wanted_.digest()) match = Match::kWhole;
    const BlobKind kind = descriptor.type().kind;
    const bool may_hold_it = match != Match::kNone || wanted_.digest().has_value();
    if (kind == BlobKind::kIndex && may_hold_it) return enter(descriptor, names, match);
    if (kind != BlobKind::kManifest || match == Match::kNone || !descriptor.artifact_type.empty())
      return {};
    if (leaves_.size() == kMaxManifests) return refuse("more than {} manifests", kMaxManifests);
    leaves_.push_back({descriptor, names, match});
    return {};
  }

  Result<void> enter(const Descriptor& descriptor, const std::vector<std::string>& names,
                     Match match) {
    if (std::ranges::find(around_, descriptor.digest) != around_.end())
      return refuse("index {} refers to itself", descriptor.digest.text());
    if (around_.size() == kMaxNesting)
      return refuse("index {} is nested more than {} deep", descriptor.digest.text(), kMaxNesting);
    if (++indexes_ > kMaxManifests) return refuse("more than {} indexes", kMaxManifests);
    TRY_ASSIGN(const std::string text, read_blob(files_, descriptor));
    TRY_ASSIGN(const Index index, parse_index("index " + descriptor.digest.text(), text));
    TRY(check_type(descriptor, index.media_type));
    around_.push_back(descriptor.digest);
    for (const Descriptor& inner : index.manifests) TRY(visit(inner, names, match));
    around_.pop_back();
    return {};
  }

  const SourceFiles& files_;
  const WantedName& wanted_;
  std::vector<Digest> around_;  // the indexes that the search is in
  std::size_t indexes_ = 0;
  std::vector<Leaf> leaves_;
  std::vector<std::string> all_names_;
};

std::string shown(std::vector<std::string> texts) {
  std::ranges::sort(texts);
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  const bool is_cut = texts.size() > kMaxShown;
  if (is_cut) texts.resize(kMaxShown);
  for (std::string& text : texts) text = in_quotes(text);
  return fmt::format("{}{}", fmt::join(texts, ", "), is_cut ? ", …" : "");
}

/// How well a manifest suits the machine. One without a platform may suit; its configuration tells.
int suitability_of(const Leaf& leaf, const Platform& machine) {
  return leaf.descriptor.platform ? suitability(*leaf.descriptor.platform, machine) : 1;
}

Result<Descriptor> choose(std::vector<Leaf> leaves, const Platform& machine) {
  const auto best_match = std::ranges::max(leaves, {}, &Leaf::match).match;
  std::erase_if(leaves, [&](const Leaf& leaf) { return leaf.match != best_match; });
  int best = 0;
  std::vector<std::string> platforms;
  for (const Leaf& leaf : leaves) {
    best = std::max(best, suitability_of(leaf, machine));
    if (leaf.descriptor.platform) platforms.push_back(leaf.descriptor.platform->text());
  }
  if (best == 0)
    return refuse("it has no image for {}, only for {}", machine.text(), shown(platforms));
  std::erase_if(leaves, [&](const Leaf& leaf) { return suitability_of(leaf, machine) != best; });
  std::vector<std::string> others;
  for (const Leaf& leaf : leaves) {
    if (leaf.descriptor.digest == leaves.front().descriptor.digest) continue;
    others.push_back(leaf.names.empty() ? leaf.descriptor.digest.text() : leaf.names.front());
  }
  if (others.empty()) return std::move(leaves.front().descriptor);
  const Leaf& first = leaves.front();
  others.push_back(first.names.empty() ? first.descriptor.digest.text() : first.names.front());
  return refuse("several images, one must be named: {}", shown(others));
}

Result<Index> read_index(const SourceFiles& files) {
  TRY_ASSIGN(const std::string text, read_document(files, "index.json"));
  return parse_index("index.json", text);
}

Result<Image> load(const SourceFiles& files, const Descriptor& descriptor,
                   const Platform& platform) {
  TRY_ASSIGN(const std::string text, read_blob(files, descriptor));
  const std::string what = "manifest " + descriptor.digest.text();
  TRY_ASSIGN(const Manifest manifest, parse_manifest(what, text));
  TRY(check_type(descriptor, manifest.media_type));
  TRY_ASSIGN(const std::string config_text, read_blob(files, manifest.config));
  TRY_ASSIGN(ImageConfig config,
             parse_image_config("configuration " + manifest.config.digest.text(), config_text));
  TRY(within(check_image(config, manifest.layers.size(), platform), what));
  std::vector<LayerBlob> layers;
  for (std::size_t i = 0; i < manifest.layers.size(); ++i) {
    const Descriptor& layer = manifest.layers[i];
    layers.push_back({blob_name(layer.digest), layer.digest, layer.size, layer.type().compression,
                      config.diff_ids[i]});
  }
  return Image{descriptor.digest, manifest.config.digest, std::move(config), std::move(layers)};
}

Result<Image> find_in_layout(const SourceFiles& files, const ManifestChoice& choice) {
  TRY_ASSIGN(const Index index, read_index(files));
  const WantedName wanted(choice.reference);
  Search search(files, wanted);
  TRY(search.run(index));
  if (search.leaves().empty())
    return refuse("no image {}{}", in_quotes(wanted.text()),
                  search.all_names().empty() ? ", its images have no names"
                                             : ", it has " + shown(search.all_names()));
  TRY_ASSIGN(const Descriptor descriptor, choose(std::move(search.leaves()), choice.platform));
  return load(files, descriptor, choice.platform);
}

}  // namespace

Result<ImageSource> ImageSource::open(const HostPath& path) {
  TRY_ASSIGN(auto files, open_source_files(path));
  const auto text = read_document(*files, "oci-layout");
  if (text) {
    TRY_ASSIGN(const LayoutFile layout,
               within(read_json<LayoutFile>("oci-layout", *text, kLayoutFile), path.string()));
    if (layout.version != "1.0.0")
      return refuse("{}: oci-layout: version {} is unknown, 1.0.0 is read", path.string(),
                    in_quotes(layout.version));
    return ImageSource(path.string(), std::move(files), true);
  }
  if (text.error().number() != ENOENT)
    return within(Result<ImageSource>(std::unexpected(text.error())), path.string());
  const auto saved = files->open("manifest.json");
  if (!saved && saved.error().number() != ENOENT)
    return within(Result<ImageSource>(std::unexpected(saved.error())), path.string());
  if (!saved)
    return refuse(
        "{}: has neither oci-layout (an OCI image layout) nor manifest.json (docker save)",
        path.string());
  return ImageSource(path.string(), std::move(files), false);
}

Result<std::vector<ListedImage>> ImageSource::list() const {
  if (!is_layout_) return within(list_docker_archive(*files_), path_);
  const WantedName any("");
  Search search(*files_, any);
  const auto searched = [&]() -> Result<void> {
    TRY_ASSIGN(const Index index, read_index(*files_));
    return search.run(index);
  }();
  TRY(within(searched, path_));
  std::vector<ListedImage> images;
  for (Leaf& leaf : search.leaves())
    images.push_back({std::move(leaf.names), leaf.descriptor.digest, leaf.descriptor.platform});
  return images;
}

Result<Image> ImageSource::find(const ManifestChoice& choice) const {
  return within(
      is_layout_ ? find_in_layout(*files_, choice) : find_in_docker_archive(*files_, choice),
      path_);
}

Result<std::unique_ptr<ByteStream>> ImageSource::open_layer(const LayerBlob& layer) const {
  return within(files_->open(layer.file), path_);
}

}  // namespace ocirun::pods
