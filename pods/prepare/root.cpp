#include "pods/prepare/root.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/directories.hpp"
#include "pods/images/trees/merge_layers.hpp"
#include "pods/prepare/find_image.hpp"
#include "pods/prepare/mounts.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kRoot = "rootfs";

/// Whether an error of mount(2) means that overlayfs is not usable, at all or on this filesystem,
/// so that a copy has to be made.
bool wants_copy(const Error& error) {
  switch (error.number()) {
    case EINVAL:      // the filesystem of `upper` cannot have a writable layer
    case ENODEV:      // the kernel has no overlayfs
    case EPERM:       // a user namespace before Linux 5.11
    case EOPNOTSUPP:  // no extended attributes
    case E2BIG:       // too many layers
      return true;
    default:
      return false;
  }
}

}  // namespace

Result<Root> Root::open(const Store& store, std::span<const StoredLayer> image, UniqueFd directory,
                        std::string path) {
  std::vector<UniqueFd> layers;
  for (const StoredLayer& layer : image) {
    OCIRUN_TRY_ASSIGN(UniqueFd opened, store.open_layer(layer));
    layers.push_back(std::move(opened));
  }
  return Root(std::move(directory), std::move(path), std::move(layers),
              options_for_this_namespace().mark);
}

Result<void> Root::find_last_run() {
  return linux::for_each_entry(directory_, [&](std::string_view name, unsigned char) {
    if (linux::cut(name, '.') == "upper")
      run_ = std::max(run_, linux::number<unsigned>(name).value_or(0));
    return Result<void>();
  });
}

Result<UniqueFd> Root::make_empty(const char* name) const {
  OCIRUN_TRY(linux::remove_tree(directory_, name));
  OCIRUN_TRY(sys::mkdirat(directory_, name, 0755));
  return sys::openat(directory_, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

Result<void> Root::mount() {
  OCIRUN_TRY_ASSIGN(const UniqueFd target, make_empty(kRoot));
  // Another container of the pod may still have the writable layer of the last run open, and change
  // it while it is removed. So each run uses a new directory, and a directory that cannot be
  // removed now is removed with the pod.
  for (const char* old : {"upper", "work"})
    ignore(linux::remove_tree(directory_, fmt::format("{}.{}", old, run_).c_str()));
  ++run_;
  OCIRUN_TRY_ASSIGN(const UniqueFd upper, make_empty(fmt::format("upper.{}", run_).c_str()));
  OCIRUN_TRY_ASSIGN(const UniqueFd work, make_empty(fmt::format("work.{}", run_).c_str()));
  std::vector<Fd> nearest_first(layers_.rbegin(), layers_.rend());
  // The attributes of the root of an overlay are those of `upper`, which must be the image's.
  OCIRUN_TRY_ASSIGN(const UniqueFd base, sys::openat(layers_.back(), ".", O_RDONLY | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(base));
  OCIRUN_TRY(sys::fchown(upper, info.st_uid, info.st_gid));
  OCIRUN_TRY(sys::fchmod(upper, info.st_mode & 07777));
  return mount_overlay(nearest_first, mark_, upper, work, target);
}

Result<void> Root::copy() const {
  OCIRUN_TRY_ASSIGN(const UniqueFd target, make_empty(kRoot));
  const std::vector<Fd> layers(layers_.begin(), layers_.end());
  return merge_layers(layers, mark_, target, {});
}

Result<RootKind> Root::make(RootKind wanted) {
  if (wanted == RootKind::kOverlay) OCIRUN_TRY(unmount());
  if (wanted == RootKind::kOverlay && !layers_.empty()) {
    const auto mounted = mount();
    if (mounted) return RootKind::kOverlay;
    if (!wants_copy(mounted.error()))
      return std::unexpected(Error(mounted.error()).within("mount the root filesystem"));
    reason_for_copy_ = mounted.error().message();
  }
  OCIRUN_TRY(within(copy(), "copy the root filesystem"));
  return RootKind::kCopy;
}

Result<void> Root::unmount() const { return unmount_at(path()); }

}  // namespace ocirun::pods
