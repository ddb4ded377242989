#pragma once

#include <string>
#include <vector>

#include "pods/images/store.hpp"

namespace ocirun::pods {

/// An image that the store has unpacked, as people see it.
struct KnownImage {
  Digest digest{Digest::Algorithm::kSha256, ""};
  std::vector<std::string> names;  // as documents wrote them
  std::vector<Digest> layers;      // chain ids, the base layer first
  std::string created;             // RFC 3339, of the image's configuration; "": not said
};

/// Writes down that `store` has `image`, which a document calls `name`: the file
/// images/sha256-HEX.json of the store.
Result<void> remember(const Store& store, const StoredImage& image, const std::string& name);

/// All images that were written down, in the order of their first names. Files that are damaged are
/// left out: their layers go away with prune_images().
Result<std::vector<KnownImage>> known_images(const Store& store);

/// Removes all images but those with the digests `keep`, and the layers that only they have.
/// Returns what was removed. The caller keeps the images of every pod that exists. Errors: those of
/// Store::prune().
Result<std::vector<KnownImage>> prune_images(const Store& store,
                                             const std::vector<std::string>& keep);

}  // namespace ocirun::pods
