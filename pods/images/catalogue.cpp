#include "pods/images/catalogue.hpp"

#include <algorithm>

#include "bundle/json/record.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "pods/images/fields.hpp"
#include "pods/images/store_locks.hpp"
#include "pods/images/stored_layout.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kDirectory = "images";
constexpr std::string_view kEnding = ".json";
constexpr std::chrono::seconds kPrunePatience{10};

constexpr auto kKnownImage = bundle::exact_fields<KnownImage>(
    bundle::required("digest", &KnownImage::digest, DigestText()),
    bundle::required("names", &KnownImage::names, bundle::texts),
    bundle::required("created", &KnownImage::created, bundle::text),
    bundle::required("layers", &KnownImage::layers, bundle::list_of(DigestText())));

std::string file_of(const Digest& digest) {
  return fmt::format("{}-{}{}", digest.algorithm_name(), digest.hex(), kEnding);
}

Result<UniqueFd> open_directory(const Store& store) {
  return linux::open_or_make_directory(store.fd(), kDirectory, 0700);
}

Result<KnownImage> read_image(Fd directory, const std::string& file) {
  return bundle::read_record(directory, file, kMaxDocument, kKnownImage);
}

}  // namespace

Result<void> remember(const Store& store, const StoredImage& image, const std::string& name) {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_directory(store));
  KnownImage known;
  const std::string file = file_of(image.digest);
  if (auto earlier = read_image(directory, file)) known = *std::move(earlier);
  if (std::ranges::find(known.names, name) != known.names.end()) return {};
  known.digest = image.digest;
  known.names.push_back(name);
  known.created = image.config.created;
  known.layers = chain_ids(image.config.diff_ids);
  return bundle::replace_record(directory, file, kKnownImage, known);
}

Result<std::vector<KnownImage>> known_images(const Store& store) {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_directory(store));
  std::vector<KnownImage> images;
  OCIRUN_TRY(linux::for_each_entry(directory, [&](const char* name, unsigned char) -> Result<void> {
    if (!std::string_view(name).ends_with(kEnding)) return {};
    auto image = read_image(directory, name);
    if (image && !image->names.empty()) images.push_back(*std::move(image));
    return {};
  }));
  std::ranges::sort(images, {}, [](const KnownImage& image) { return image.names.front(); });
  return images;
}

Result<std::vector<KnownImage>> prune_images(const Store& store,
                                             const std::vector<std::string>& keep) {
  OCIRUN_TRY_ASSIGN(std::vector<KnownImage> images, known_images(store));
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_directory(store));
  std::vector<KnownImage> removed;
  std::vector<Digest> layers;
  for (KnownImage& image : images) {
    if (std::ranges::find(keep, image.digest.text()) != keep.end()) {
      layers.insert(layers.end(), image.layers.begin(), image.layers.end());
      continue;
    }
    OCIRUN_TRY(sys::unlinkat(directory, file_of(image.digest).c_str(), 0));
    removed.push_back(std::move(image));
  }
  OCIRUN_TRY(store.prune(layers));
  OCIRUN_TRY_ASSIGN(const UniqueFd lock, lock_store_alone(store.fd(), kPrunePatience));
  OCIRUN_TRY(prune_pulled(store, keep));
  return removed;
}

}  // namespace ocirun::pods
