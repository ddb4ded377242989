#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pods/images/store.hpp"

namespace ocirun::pods {

/// The kind of a root filesystem. kOverlay: the layers of the image below a writable layer. kCopy:
/// a copy of all files, for machines without a usable overlayfs.
enum class RootKind : std::uint8_t { kOverlay, kCopy };

/// The root filesystem of a container: the directory `rootfs` in the directory of the container.
/// `upper.N` beside it is the writable layer of an overlay in run N of the container.
class Root {
 public:
  /// `directory` is the directory of the container, with the path `path`. Opens the layers of
  /// `image`, which `store` must have. Mounts nothing yet.
  static Result<Root> open(const Store& store, std::span<const StoredLayer> image,
                           UniqueFd directory, std::string path);

  /// Finds the number of the last run, after which make() counts on. Must be called before make()
  /// if another process has made the root filesystem.
  Result<void> find_last_run();
  /// Makes the root filesystem as the image has it, without what an earlier run of the container
  /// has written. Tries an overlay first, unless a copy is `wanted`. Errors: ENOSPC …
  Result<RootKind> make(RootKind wanted = RootKind::kOverlay);
  /// Counts the run of a make() that a copy of this process has called: this object does not see
  /// it.
  void count_run() { ++run_; }
  /// Why make() has made a copy instead of an overlay; "" if it has not.
  const std::string& reason_for_copy() const { return reason_for_copy_; }

  /// Unmounts the root filesystem, and keeps its writable layer.
  Result<void> unmount() const;

  std::string path() const { return path_ + "/rootfs"; }

 private:
  Root(UniqueFd directory, std::string path, std::vector<UniqueFd> layers, OpaqueMark mark)
      : directory_(std::move(directory)),
        path_(std::move(path)),
        layers_(std::move(layers)),
        mark_(mark) {}

  Result<UniqueFd> make_empty(const char* name) const;
  Result<void> mount();
  Result<void> copy() const;

  UniqueFd directory_;
  std::string path_;
  std::vector<UniqueFd> layers_;  // the base layer first
  OpaqueMark mark_;               // in the layers
  unsigned run_ = 0;              // of the writable layer `upper.N`
  std::string reason_for_copy_;
};

}  // namespace ocirun::pods
