#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pods/images/store.hpp"

namespace ocirun::pods {

// The store is an OCI image layout too (image-layout.md): its blobs/ and index.json have the images
// that were pulled. Each image has the name under which it was pulled as
// org.opencontainers.image.ref.name. Of an index, the blobs for this machine are there.

/// Opens the pulled images. Returns nothing if no image was pulled yet.
Result<std::optional<ImageSource>> open_pulled(const Store& store);

/// Writes the files `oci-layout` and index.json of a layout whose only entry is `top`, with the
/// name `name`.
Result<void> write_layout(Fd layout, const Descriptor& top, const std::string& name);

/// The directory of the store in which images arrive, each in a directory of its own.
inline constexpr const char* kIncoming = "incoming";
Result<UniqueFd> open_incoming(const Store& store);

/// Gives the layout `layout`, which must be on the filesystem of the store, hard links to those of
/// `blobs` that the store has.
Result<void> lend_blobs(const Store& store, Fd layout, const std::vector<Digest>& blobs);

/// Removes a damaged blob from the store if the blob of `layout` is a hard link to it
/// (lend_blobs()). Returns whether it was.
Result<bool> take_back(const Store& store, Fd layout, const Digest& blob);

/// Moves `blobs` from the layout `layout` to the store, and enters the image there: `top` is its
/// index or manifest. An image that had the name until now loses it. The blobs must be complete,
/// and their digests verified. After an error, the image is not entered.
Result<void> keep_pulled(const Store& store, Fd layout, const std::vector<Digest>& blobs,
                         const Descriptor& top, const std::string& name);

/// Removes the blobs of all images except those with the manifests `keep` (digests as text), and
/// what killed processes have left of images that were arriving. The caller must have locked the
/// store for itself alone.
Result<void> prune_pulled(const Store& store, const std::vector<std::string>& keep);

/// The digests of all blobs of an image of a layout. `top`: the index or the manifest that
/// index.json names for the image.
std::vector<Digest> blobs_of(const Image& image, const Digest& top);

}  // namespace ocirun::pods
