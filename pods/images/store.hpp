#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "linux/base/paths.hpp"
#include "pods/images/layout.hpp"

namespace ocirun::pods {

/// A layer that the store holds, ready as a lower layer of an overlay.
struct StoredLayer {
  Digest chain_id;  // it and all layers below it
  /// "layers/sha256-HEX", below the store. ".user" follows for OpaqueMark::kUser, and ".nodev" for
  /// DeviceNodes::kLeaveOut, because they make other trees of the same layer.
  std::string directory;
};

/// An image whose layers are all in the store.
struct StoredImage {
  Digest digest, config_id;
  ImageConfig config;
  /// The base layer first. Layers below one whose root directory is opaque are left out, because
  /// overlayfs does not look at that mark.
  std::vector<StoredLayer> layers;
  std::uint64_t devices_left_out = 0;  // of the layers that add() has unpacked
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
  ImageLimits image_limits;                          // for the layers that add() unpacks, together
};

/// Unpacked layers below one directory: `layers/<algorithm>-<hex of the chain id>/`. The layers of
/// an image are unpacked under temporary names, each under a lock of its own, and renamed when all
/// of them were verified and are on the disk. So several processes unpack different images at once,
/// and each layer once. What a process leaves behind that was killed, the next one removes.
class Store {
 public:
  /// Opens the directory, and makes what is missing of it with mode 0700: its layers hold programs
  /// with set-user-id bits. Errors: ENOTDIR, EACCES …
  static Result<Store> open(const HostPath& path);

  /// A lease, held by the descriptor. A caller takes one before add(), and gives it up when its own
  /// record names the layers that prune() has to keep. Waits while prune() removes layers.
  Result<UniqueFd> use() const;

  /// Finds an image and unpacks the layers that are missing, in child processes (the caller must
  /// have a single thread). Errors: those of ImageSource::find() and unpack_layer_apart(); the
  /// store is then as before.
  Result<StoredImage> add(const ImageSource& source, const ManifestChoice& choice,
                          const AddOptions& options = {}) const;

  /// The chain ids of all layers, sorted by text, each once.
  Result<std::vector<Digest>> list() const;

  /// Removes all layers whose chain ids are not in `keep`, and returns how many directories these
  /// were. The caller keeps the layers of every container that exists, and has no lease. Errors:
  /// others have leases for longer than `patience`.
  Result<std::size_t> prune(std::span<const Digest> keep,
                            std::chrono::milliseconds patience = std::chrono::seconds(10)) const;

  /// Opens the directory of a layer (O_PATH). Errors: ENOENT; a `directory` that is none of a
  /// store.
  Result<UniqueFd> open_layer(const StoredLayer& layer) const;
  Fd fd() const { return directory_; }

 private:
  Store(UniqueFd directory, UniqueFd layers)
      : directory_(std::move(directory)), layers_(std::move(layers)) {}

  UniqueFd directory_, layers_;
};

}  // namespace ocirun::pods
