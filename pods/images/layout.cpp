#include "pods/images/layout.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include "bundle/json/read_json.hpp"
#include "bundle/json/writer.hpp"
#include "pods/documents/model/reference.hpp"
#include "pods/images/fields.hpp"
#include "pods/images/manifest.hpp"

namespace ocirun::pods {
namespace {

struct LayoutFile {
  std::string version;
};
constexpr auto kLayoutFile = bundle::fields<LayoutFile>(
    bundle::required("imageLayoutVersion", &LayoutFile::version, bundle::text));

/// `skopeo copy … dir:PATH` writes the file `version` beside manifest.json and the blobs.
bool is_skopeo_directory(const SourceFiles& files, std::size_t limit) {
  const auto version = DocumentReader(files, limit).read("version");
  return version && version->starts_with("Directory Transport Version:");
}

}  // namespace

Result<ImageSource> ImageSource::open(const HostPath& path, const SourceOptions& options) {
  OCIRUN_TRY_ASSIGN(auto files, open_source_files(path, options));
  const std::size_t limit = options.limits.document_bytes;
  const auto text = DocumentReader(*files, limit).read("oci-layout");
  if (text) {
    OCIRUN_TRY_ASSIGN(
        const LayoutFile layout,
        within(bundle::read_json<LayoutFile>("oci-layout", *text, kLayoutFile), path.string()));
    if (layout.version != "1.0.0")
      return refuse("{}: oci-layout: version {} is unknown, 1.0.0 is read", path.string(),
                    bundle::in_quotes(layout.version));
    return ImageSource(path.string(), std::move(files), true, limit);
  }
  if (text.error().number() != ENOENT)
    return within(Result<ImageSource>(std::unexpected(text.error())), path.string());
  const auto saved = files->open("manifest.json");
  if (!saved && saved.error().number() != ENOENT)
    return within(Result<ImageSource>(std::unexpected(saved.error())), path.string());
  if (is_skopeo_directory(*files, limit))
    return refuse(
        "{0}: is a directory of skopeo's transport dir:, which has no names and is not read: "
        "`skopeo copy dir:{0} oci:DIR:NAME` makes an OCI image layout of it",
        path.string());
  if (!saved)
    return refuse(
        "{}: has neither oci-layout (an OCI image layout) nor manifest.json (docker save)",
        path.string());
  return ImageSource(path.string(), std::move(files), false, limit);
}

Result<std::vector<ListedImage>> ImageSource::list() const {
  const DocumentReader documents(*files_, document_bytes_);
  return within(is_layout_ ? list_layout(documents) : list_docker_archive(documents), path_);
}

Result<Image> ImageSource::find(const ManifestChoice& choice) const {
  const DocumentReader documents(*files_, document_bytes_);
  return within(
      is_layout_ ? find_in_layout(documents, choice) : find_in_docker_archive(documents, choice),
      path_);
}

Result<bool> ImageSource::has(const std::string& reference) const {
  const DocumentReader documents(*files_, document_bytes_);
  return within(
      is_layout_ ? layout_has(documents, reference) : docker_archive_has(documents, reference),
      path_);
}

Result<Descriptor> ImageSource::find_manifest(const ManifestChoice& choice) const {
  DocumentReader documents(*files_, document_bytes_);
  return within(find_manifest_in_layout(documents, choice), path_);
}

Result<FileRange> ImageSource::open_layer(const LayerBlob& layer) const {
  return within(files_->open(layer.file), path_);
}

namespace {

using bundle::in_quotes;

constexpr int kMaxNesting = 4;
constexpr std::size_t kMaxManifests = 10'000;
constexpr std::size_t kMaxVisits = 100'000;  // of descriptors, through all ways that lead to them
constexpr std::size_t kMaxListedNames = std::size_t{64} << 20;  // bytes
constexpr const char* kNameAnnotations[] = {"org.opencontainers.image.ref.name",
                                            "io.containerd.image.name"};

using Names = std::vector<std::string>;

/// Checks that the media type in a document is that in its descriptor.
Result<void> check_type(const Descriptor& descriptor, const std::string& own) {
  if (own.empty() || own == descriptor.media_type) return {};
  return refuse("blob {}: its media type is {}, its descriptor says {}", descriptor.digest.text(),
                in_quotes(own), in_quotes(descriptor.media_type));
}

Names names_of(const Descriptor& descriptor) {
  Names names;
  for (const char* key : kNameAnnotations) {
    const auto found = descriptor.annotations.find(key);
    if (found != descriptor.annotations.end()) names.push_back(found->second);
  }
  return names;
}

/// One manifest, and how it was found. Both pointers are into the Search.
struct Leaf {
  const Descriptor* descriptor;
  const Names* names;  // its own, or those of the index around it
  WantedName::Match match;
};

/// Collects the manifests of a layout that may be the wanted image.
class Search {
 public:
  using Match = WantedName::Match;

  Search(DocumentReader& documents, const WantedName& wanted)
      : documents_(documents), wanted_(wanted) {}

  Result<void> run() {
    OCIRUN_TRY_ASSIGN(const std::string text, documents_.read("index.json"));
    OCIRUN_TRY_ASSIGN(top_, parse_index("index.json", text));
    for (const Descriptor& descriptor : top_.manifests) {
      const Names& names = *names_.insert(names_of(descriptor)).first;
      Match match = wanted_.is_any() ? Match::kWhole : Match::kNone;
      if (!wanted_.digest())
        for (const std::string& name : names) match = std::max(match, wanted_.match(name));
      OCIRUN_TRY(visit(descriptor, names, match));
    }
    return {};
  }

  std::vector<Leaf>& leaves() { return leaves_; }
  Names all_names() const {
    Names all;
    for (const Names& names : names_) all.insert(all.end(), names.begin(), names.end());
    return all;
  }

 private:
  struct ReadIndex {
    std::uint64_t size;
    Index index;
  };
  using Way = std::tuple<const ReadIndex*, const Names*, Match>;

  Result<void> visit(const Descriptor& descriptor, const Names& names, Match match) {
    if (++visits_ > kMaxVisits)
      return refuse("its indexes lead to more than {} documents", kMaxVisits);
    if (wanted_.digest() && descriptor.digest == *wanted_.digest()) match = Match::kWhole;
    const BlobKind kind = descriptor.type().kind;
    const bool may_hold_it = match != Match::kNone || wanted_.digest().has_value();
    if (kind == BlobKind::kIndex && may_hold_it) return enter(descriptor, names, match);
    if (kind != BlobKind::kManifest || match == Match::kNone || !descriptor.artifact_type.empty())
      return {};
    if (leaves_.size() == kMaxManifests) return refuse("more than {} manifests", kMaxManifests);
    leaves_.push_back({&descriptor, &names, match});
    return {};
  }

  Result<void> enter(const Descriptor& descriptor, const Names& names, Match match) {
    if (std::ranges::find(around_, descriptor.digest) != around_.end())
      return refuse("index {} refers to itself", descriptor.digest.text());
    if (around_.size() == kMaxNesting)
      return refuse("index {} is nested more than {} deep", descriptor.digest.text(), kMaxNesting);
    OCIRUN_TRY_ASSIGN(const ReadIndex* const read, index_of(descriptor));
    OCIRUN_TRY(check_type(descriptor, read->index.media_type));
    // The same manifests were visited already, under the same names.
    if (!entered_.insert(Way(read, &names, match)).second) return {};
    around_.push_back(descriptor.digest);
    for (const Descriptor& inner : read->index.manifests) OCIRUN_TRY(visit(inner, names, match));
    around_.pop_back();
    return {};
  }

  Result<const ReadIndex*> index_of(const Descriptor& descriptor) {
    const std::string digest = descriptor.digest.text();
    if (const auto known = indexes_.find(digest); known != indexes_.end()) {
      if (known->second.size == descriptor.size) return &known->second;
      return refuse("blob {}: it has {} bytes, its descriptor says {}", digest, known->second.size,
                    descriptor.size);
    }
    OCIRUN_TRY_ASSIGN(const std::string text, documents_.read_blob(descriptor));
    OCIRUN_TRY_ASSIGN(Index index, parse_index("index " + digest, text));
    return &indexes_.emplace(digest, ReadIndex{text.size(), std::move(index)}).first->second;
  }

  DocumentReader& documents_;
  const WantedName& wanted_;
  Index top_;
  std::map<std::string, ReadIndex> indexes_;  // by digest
  std::set<Names> names_;                     // of the descriptors in index.json
  std::vector<Digest> around_;                // the indexes that the search is in
  std::set<Way> entered_;
  std::size_t visits_ = 0;
  std::vector<Leaf> leaves_;
};

/// How well a manifest suits the machine. A manifest without a platform may suit: its configuration
/// decides later.
int suitability_of(const Leaf& leaf, const Platform& machine) {
  return leaf.descriptor->platform ? suitability(*leaf.descriptor->platform, machine) : 1;
}

Result<Descriptor> choose(std::vector<Leaf> leaves, const Platform& machine) {
  const auto best_match = std::ranges::max(leaves, {}, &Leaf::match).match;
  std::erase_if(leaves, [&](const Leaf& leaf) { return leaf.match != best_match; });
  int best = 0;
  std::vector<std::string> platforms;
  for (const Leaf& leaf : leaves) {
    best = std::max(best, suitability_of(leaf, machine));
    if (leaf.descriptor->platform) platforms.push_back(leaf.descriptor->platform->text());
  }
  if (best == 0)
    return refuse("it has no image for {}, only for {}", machine.text(),
                  bundle::in_list(platforms));
  std::erase_if(leaves, [&](const Leaf& leaf) { return suitability_of(leaf, machine) != best; });
  std::vector<std::string> others;
  for (const Leaf& leaf : leaves) {
    if (leaf.descriptor->digest == leaves.front().descriptor->digest) continue;
    others.push_back(leaf.names->empty() ? leaf.descriptor->digest.text() : leaf.names->front());
  }
  if (others.empty()) return *leaves.front().descriptor;
  const Leaf& first = leaves.front();
  others.push_back(first.names->empty() ? first.descriptor->digest.text() : first.names->front());
  return refuse("several images, one must be named: {}", bundle::in_list(others));
}

Result<Image> load(DocumentReader& documents, const Descriptor& descriptor,
                   const Platform& platform) {
  OCIRUN_TRY_ASSIGN(const std::string text, documents.read_blob(descriptor));
  const std::string what = "manifest " + descriptor.digest.text();
  OCIRUN_TRY_ASSIGN(const Manifest manifest, parse_manifest(what, text));
  OCIRUN_TRY(check_type(descriptor, manifest.media_type));
  OCIRUN_TRY_ASSIGN(const std::string config_text, documents.read_blob(manifest.config));
  OCIRUN_TRY_ASSIGN(
      ImageConfig config,
      parse_image_config("configuration " + manifest.config.digest.text(), config_text));
  OCIRUN_TRY(within(check_image(config, manifest.layers.size(), platform), what));
  std::vector<LayerBlob> layers;
  for (std::size_t i = 0; i < manifest.layers.size(); ++i) {
    const Descriptor& layer = manifest.layers[i];
    layers.push_back({blob_name(layer.digest), layer.digest, layer.size, layer.type().compression,
                      config.diff_ids[i]});
  }
  return Image{descriptor.digest, manifest.config.digest, std::move(config), std::move(layers)};
}

}  // namespace

Result<std::vector<ListedImage>> list_layout(DocumentReader documents) {
  const WantedName any("");
  Search search(documents, any);
  OCIRUN_TRY(search.run());
  std::vector<ListedImage> images;
  std::size_t bytes = 0;
  for (const Leaf& leaf : search.leaves()) {
    for (const std::string& name : *leaf.names) bytes += name.size();
    if (bytes > kMaxListedNames)
      return refuse("the names of all its images have more than {} bytes", kMaxListedNames);
    images.push_back({*leaf.names, leaf.descriptor->digest, leaf.descriptor->platform});
  }
  return images;
}

Result<bool> layout_has(DocumentReader documents, const std::string& reference) {
  const WantedName wanted(reference);
  Search search(documents, wanted);
  OCIRUN_TRY(search.run());
  return !search.leaves().empty();
}

Result<Descriptor> find_manifest_in_layout(DocumentReader& documents,
                                           const ManifestChoice& choice) {
  const WantedName wanted(choice.reference);
  Search search(documents, wanted);
  OCIRUN_TRY(search.run());
  if (search.leaves().empty()) {
    const Names names = search.all_names();
    return refuse(
        "no image {}{}", in_quotes(wanted.text()),
        names.empty() ? ", its images have no names" : ", it has " + bundle::in_list(names));
  }
  return choose(search.leaves(), choice.platform);
}

Result<Image> find_in_layout(DocumentReader documents, const ManifestChoice& choice) {
  OCIRUN_TRY_ASSIGN(const Descriptor descriptor, find_manifest_in_layout(documents, choice));
  return load(documents, descriptor, choice.platform);
}

}  // namespace ocirun::pods
