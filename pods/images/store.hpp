#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "linux/base/paths.hpp"
#include "pods/images/layout.hpp"

namespace ocirun::pods {

/// A layer in the store, which can be a lower layer of an overlay.
struct StoredLayer {
  Digest chain_id;  // names this layer and all layers below
  /// "layers/sha256-HEX", below the store. ".user" follows for OpaqueMark::kUser, and ".nodev" for
  /// DeviceNodes::kLeaveOut, because these options unpack the same layer to another tree.
  std::string directory;
};

/// An image whose layers are all in the store.
struct StoredImage {
  Digest digest, config_id;
  ImageConfig config;
  /// The base layer comes first. If the root directory of a layer is opaque, the layers below are
  /// left out, because overlayfs ignores the mark there.
  std::vector<StoredLayer> layers;
  std::uint64_t devices_left_out = 0;  // in the layers that this call of Store::add() has unpacked
};

/// The progress of Store::add(): it unpacks layer `index` of `count`, and has read `read` bytes of
/// the blob.
struct AddProgress {
  std::size_t index = 0, count = 0;
  std::uint64_t read = 0, size = 0;  // bytes; `size` is 0 if the source does not tell it
};

struct AddOptions {
  LayerLimits limits;
  OpaqueMark mark = OpaqueMark::kTrusted;
  DeviceNodes devices = DeviceNodes::kMake;
  std::function<void(const AddProgress&)> progress;  // may be empty
  ImageLimits image_limits;                          // for all layers together that add() unpacks
};

/// Unpacked layers below one directory: `layers/<algorithm>-<hex of the chain id>/`. The layers of
/// an image are unpacked under temporary names, each under a lock of its own, and renamed when all
/// of them were verified and are on the disk. So several processes can unpack different images at
/// once, and each layer is unpacked once. The next process removes what a killed process has left
/// behind.
class Store {
 public:
  /// Opens the directory of the store, and makes it and its missing parents with mode 0700, because
  /// layers may hold programs with set-user-id bits. Errors: ENOTDIR, EACCES …
  static Result<Store> open(const HostPath& path);
  /// The store in the directory of --data.
  static Result<Store> open_in(const HostPath& data) {
    return open(HostPath(data.string() + "/images"));
  }

  /// Locks the store against prune(), as long as the descriptor is open. A caller locks the store
  /// before add(), and unlocks it when its own record names the layers that prune() has to keep.
  /// Several processes can have the lock. Waits while prune() removes layers.
  Result<UniqueFd> lock() const;

  /// Finds an image and unpacks the layers that are missing, in child processes (the caller must
  /// have a single thread). Errors: those of ImageSource::find() and unpack_layer_apart(); the
  /// store is then as before.
  Result<StoredImage> add(const ImageSource& source, const ManifestChoice& choice,
                          const AddOptions& options = {}) const;

  /// The chain ids of all layers, sorted, each once.
  Result<std::vector<Digest>> list() const;

  /// Removes all layers whose chain ids are not in `keep`, and returns how many directories it has
  /// removed. `keep` must have the layers of every container that exists. The caller must not have
  /// locked the store. Errors: other processes keep the store locked for longer than `patience`.
  Result<std::size_t> prune(std::span<const Digest> keep,
                            std::chrono::milliseconds patience = std::chrono::seconds(10)) const;

  /// Opens the directory of a layer (O_PATH). Errors: ENOENT; `layer.directory` is no name of a
  /// layer's directory.
  Result<UniqueFd> open_layer(const StoredLayer& layer) const;
  Fd fd() const { return directory_; }
  const HostPath& path() const { return path_; }  // absolute

 private:
  Store(HostPath path, UniqueFd directory, UniqueFd layers)
      : path_(std::move(path)), directory_(std::move(directory)), layers_(std::move(layers)) {}

  HostPath path_;
  UniqueFd directory_, layers_;
};

}  // namespace ocirun::pods
