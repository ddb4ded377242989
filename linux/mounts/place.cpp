#include "linux/mounts/place.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "linux/base/outer_filter.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/legacy.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kFsconfigLimit = 255;  // fsconfig(2): longer strings are EINVAL

template <typename T>
bool lacks_call(const Result<T>& result) {
  return !result && result.error().number() == ENOSYS;
}

/// Whether only mount(2) can make this filesystem: fsconfig(2) has no name for some superblock
/// flags, and a limit on the length of options.
bool needs_mount2(const Filesystem& filesystem) {
  return (filesystem.superblock_flags & (MS_I_VERSION | MS_SILENT)) != 0 ||
         filesystem.source.size() > kFsconfigLimit ||
         std::ranges::any_of(filesystem.data, [](const std::string& option) {
           return option.size() > kFsconfigLimit;
         });
}

/// Sets attributes and propagation in as few calls as possible. The recursive attributes come
/// first, so that the attributes of the top mount override them there.
Result<void> set_all(Fd mount, const Placement& wanted) {
  const bool whole_tree = wanted.propagation_recursion == Recursion::kTree;
  const Propagation tree = whole_tree ? wanted.propagation : Propagation::kUnchanged;
  const Propagation top = whole_tree ? Propagation::kUnchanged : wanted.propagation;
  if (!wanted.recursive_attributes.empty() || tree != Propagation::kUnchanged)
    OCIRUN_TRY(set_mount_attributes(mount, wanted.recursive_attributes, Recursion::kTree, tree));
  if (!wanted.attributes.empty() || top != Propagation::kUnchanged)
    OCIRUN_TRY(set_mount_attributes(mount, wanted.attributes, Recursion::kTop, top));
  return {};
}

/// Like set_all(), for an attached mount and without mount_setattr(2).
Result<void> set_all_by_mount2(const Procfs& procfs, Fd mount, const Placement& wanted) {
  if (!wanted.recursive_attributes.empty())
    return fail(ENOSYS, "recursive mount options (rro, rnosuid, …): {}",
                why_absent(SYS_mount_setattr, "mount_setattr, Linux 5.12"));
  if (wanted.propagation != Propagation::kUnchanged)
    OCIRUN_TRY(legacy::change_propagation(procfs, mount, wanted.propagation,
                                          wanted.propagation_recursion));
  if (!wanted.attributes.empty())
    OCIRUN_TRY(legacy::change_attributes(procfs, mount, wanted.attributes));
  return {};
}

/// Calls set_all_by_mount2() for a bind that was just attached. Unmounts the bind on an error:
/// otherwise a second attempt would mount another tree on top of the bind.
Result<void> set_all_or_unmount(const Procfs& procfs, Fd mount, const Placement& wanted) {
  auto set = set_all_by_mount2(procfs, mount, wanted);
  if (!set) ignore(legacy::unmount(procfs, mount));
  return set;
}

Result<DetachedMount> make_filled(const MountPoint& point, const Filesystem& filesystem,
                                  std::uint64_t attributes, const Fill& fill) {
  if (fill == nullptr) return DetachedMount::of_filesystem(filesystem, attributes);
  const std::uint64_t writable = attributes & ~std::uint64_t{MOUNT_ATTR_RDONLY};
  OCIRUN_TRY_ASSIGN(DetachedMount made, DetachedMount::of_filesystem(filesystem, writable));
  OCIRUN_TRY(fill(point.target, made.fd()));
  if (writable != attributes)
    OCIRUN_TRY(set_mount_attributes(made.fd(), {.set = MOUNT_ATTR_RDONLY}, Recursion::kTop));
  return made;
}

Result<UniqueFd> place_by_mount2(const MountPoint& point, const Filesystem& filesystem,
                                 std::uint64_t attributes, const Fill& fill) {
  if (fill == nullptr) return legacy::place_filesystem(point, filesystem, attributes);
  const std::uint64_t writable = attributes & ~std::uint64_t{MOUNT_ATTR_RDONLY};
  OCIRUN_TRY_ASSIGN(UniqueFd made, legacy::place_filesystem(point, filesystem, writable));
  OCIRUN_TRY(fill(point.target, made));
  if (writable != attributes)
    OCIRUN_TRY(legacy::change_attributes(point.procfs, made, {.set = MOUNT_ATTR_RDONLY}));
  return made;
}

Result<UniqueFd> attached(const MountPoint& point, Result<DetachedMount> made) {
  if (!made) return std::unexpected(std::move(made).error());
  OCIRUN_TRY(made->attach(point.target));
  return std::move(*made).release();
}

}  // namespace

Result<UniqueFd> place_bind(const MountPoint& point, Fd source, const Placement& placement) {
  Result<DetachedMount> tree = DetachedMount::clone_of(source, placement.recursion);
  if (!tree && tree.error().number() == EINVAL && placement.recursion == Recursion::kTop)
    tree.error().within(
        "mounts below it are locked in this user namespace, or it is unbindable: use \"rbind\"");
  Result<UniqueFd> made = tree ? place_tree(point, *std::move(tree), placement)
                               : std::unexpected(std::move(tree).error());
  if (!lacks_call(made)) return made;
  OCIRUN_TRY_ASSIGN(UniqueFd bound, legacy::place_bind(point, source, placement.recursion));
  OCIRUN_TRY(set_all_or_unmount(point.procfs, bound, placement));
  return bound;
}

Result<UniqueFd> place_tree(const MountPoint& point, DetachedMount tree,
                            const Placement& placement) {
  // An unbindable tree cannot be attached below a shared mount, so it becomes unbindable after
  // attaching.
  const bool unbindable = placement.propagation == Propagation::kUnbindable;
  Placement first = placement;
  if (unbindable) first.propagation = Propagation::kUnchanged;
  const Result<void> set = set_all(tree.fd(), first);
  if (!set && !lacks_call(set)) return std::unexpected(set.error());
  OCIRUN_TRY(tree.attach(point.target));
  UniqueFd mount = std::move(tree).release();
  if (!set) OCIRUN_TRY(set_all_or_unmount(point.procfs, mount, first));
  if (!unbindable) return mount;
  auto changed = change_propagation(point.procfs, mount, placement.propagation,
                                    placement.propagation_recursion);
  if (changed) return mount;
  ignore(legacy::unmount(point.procfs, mount));
  return std::unexpected(std::move(changed).error());
}

Result<UniqueFd> place_filesystem(const MountPoint& point, const Filesystem& filesystem,
                                  std::uint64_t attributes, const Fill& fill) {
  if (needs_mount2(filesystem)) return place_by_mount2(point, filesystem, attributes, fill);
  Result<UniqueFd> made = attached(point, make_filled(point, filesystem, attributes, fill));
  if (lacks_call(made)) return place_by_mount2(point, filesystem, attributes, fill);
  if (!made && made.error().number() == EINVAL) {
    // Some filesystems accept an option only in the text of options of mount(2). If mount(2) fails
    // too, the first error is returned.
    if (auto second = place_by_mount2(point, filesystem, attributes, fill)) return second;
  }
  return made;
}

Result<void> change_attributes(const Procfs& procfs, Fd mount, MountAttributes attributes,
                               Recursion recursion) {
  auto done = set_mount_attributes(mount, attributes, recursion);
  if (!lacks_call(done)) return done;
  const bool tree = recursion == Recursion::kTree;
  return set_all_by_mount2(procfs, mount,
                           {.attributes = tree ? MountAttributes() : attributes,
                            .recursive_attributes = tree ? attributes : MountAttributes()});
}

Result<void> change_propagation(const Procfs& procfs, Fd mount, Propagation propagation,
                                Recursion recursion) {
  if (propagation == Propagation::kUnchanged) return {};
  auto done = set_mount_attributes(mount, {}, recursion, propagation);
  if (!lacks_call(done)) return done;
  return legacy::change_propagation(procfs, mount, propagation, recursion);
}

}  // namespace ocirun::linux
