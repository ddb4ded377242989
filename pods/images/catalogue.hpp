#pragma once

#include <string>
#include <vector>

#include "pods/images/store.hpp"

namespace ocirun::pods {

/// An image in the store, as `ocirun pod images` shows it.
struct KnownImage {
  Digest digest;
  std::vector<std::string> names;  // as documents wrote them
  std::vector<Digest> layers;      // chain ids, the base layer first
  std::string created;  // RFC 3339, of the image's configuration; "" if the image does not say it
};

/// Records in the file images/sha256-HEX.json of `store` that the store has `image`, and that a
/// document calls the image `name`.
Result<void> remember(const Store& store, const StoredImage& image, const std::string& name);

/// Returns all recorded images, sorted by their first names. Skips damaged records; prune_images()
/// removes the layers of such an image.
Result<std::vector<KnownImage>> known_images(const Store& store);

/// Removes all images except those with the digests `keep`, and all layers that no remaining image
/// has. Returns the removed images. `keep` must have the images of every pod that exists. Errors:
/// those of Store::prune().
Result<std::vector<KnownImage>> prune_images(const Store& store,
                                             const std::vector<std::string>& keep);

}  // namespace ocirun::pods
