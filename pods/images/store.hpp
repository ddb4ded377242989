#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "linux/base/paths.hpp"
#include "pods/images/layout.hpp"

namespace ocirun::pods {

/// A layer that the store holds, ready as a lower layer of an overlay.
struct StoredLayer {
  Digest chain_id;        // it and all layers below it
  std::string directory;  // "layers/sha256-HEX", below the store
};

/// An image whose layers are all in the store.
struct StoredImage {
  Digest digest, config_id;
  ImageConfig config;
  /// The base layer first. Layers below one whose root directory is opaque are left out, because
  /// overlayfs does not look at that mark.
  std::vector<StoredLayer> layers;
};

/// What add() does, for people who wait: layer `index` of `count`, and how many bytes of its blob
/// were read.
struct AddProgress {
  std::size_t index = 0, count = 0;
  std::uint64_t read = 0, size = 0;  // bytes; size is 0 where the source does not tell it
};

struct AddOptions {
  LayerLimits limits;
  OpaqueMark mark = OpaqueMark::kTrusted;
  DeviceNodes devices = DeviceNodes::kMake;
  std::function<void(const AddProgress&)> progress;  // may be empty
};

/// Unpacked layers below one directory: `layers/<algorithm>-<hex of the chain id>/`. A layer is
/// unpacked under a temporary name and renamed when all of it was verified, under a lock for the
/// store, so that several processes unpack each layer once. What a process leaves behind that was
/// killed, the next one removes.
class Store {
 public:
  /// Opens the directory, and makes what is missing of it with mode 0700: its layers hold programs
  /// with set-user-id bits. Errors: ENOTDIR, EACCES …
  static Result<Store> open(const HostPath& path);

  /// Finds an image and unpacks the layers that are missing. Errors: those of ImageSource::find()
  /// and unpack_layer(); the store is then as before, but for whole layers below the failed one.
  Result<StoredImage> add(const ImageSource& source, const ManifestChoice& choice,
                          const AddOptions& options = {}) const;

  /// The chain ids of all layers, sorted by text.
  Result<std::vector<Digest>> list() const;

  /// Removes all layers whose chain ids are not in `keep`, and returns how many. The caller keeps
  /// the layers of every container that exists.
  Result<std::size_t> prune(std::span<const Digest> keep) const;

  /// Opens the directory of a layer (O_PATH). Errors: ENOENT.
  Result<UniqueFd> open_layer(const StoredLayer& layer) const;
  Fd fd() const { return directory_; }

 private:
  Store(UniqueFd directory, UniqueFd layers)
      : directory_(std::move(directory)), layers_(std::move(layers)) {}

  Result<UniqueFd> lock() const;
  Result<void> remove_leftovers() const;
  Result<void> unpack(const ImageSource& source, const Image& image, std::size_t index,
                      std::span<const Digest> chain, const AddOptions& options) const;

  UniqueFd directory_, layers_;
};

}  // namespace ocirun::pods
