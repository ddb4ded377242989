#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pods/images/store.hpp"

namespace ocirun::pods {

/// Which kind of root filesystem a container gets. kOverlay: the layers of its image and a writable
/// one. kCopy: a copy of all files, where overlayfs cannot be had.
enum class RootKind : std::uint8_t { kOverlay, kCopy };

/// The root filesystem of a container: `rootfs` in the container's directory. Of an overlay,
/// `upper.N` beside it has what run N of the
/// container writes.
class Root {
 public:
  /// `directory` is the container's. `store` must have the image's layers; their descriptors stay
  /// open. Nothing is mounted yet.
  static Result<Root> open(const Store& store, const StoredImage& image, UniqueFd directory,
                           std::string path);

  /// Makes the root filesystem as the image has it; what an earlier run of the container has
  /// written is lost. Tries an overlay first, unless a copy is `wanted`. Errors: ENOSPC …
  Result<RootKind> make(RootKind wanted = RootKind::kOverlay);
  /// Why make() has made a copy instead of an overlay; "": it has not.
  const std::string& reason_for_copy() const { return reason_for_copy_; }

  /// Unmounts the root filesystem. Its writable layer stays.
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
