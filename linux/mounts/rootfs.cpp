#include "linux/mounts/rootfs.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/legacy.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/mounts/place.hpp"

namespace ocirun::linux {
namespace {

/// Opens the place to attach the root: the rootfs itself, or "/" where the user namespace cannot
/// reach the rootfs. The pivot removes the old "/" from this namespace anyway.
Result<UniqueFd> open_attachment(const HostPath& rootfs, bool have_tree) {
  auto directory = sys::open(rootfs.c_str(), O_PATH | O_DIRECTORY);
  if (!directory && directory.error().number() == EACCES && have_tree)
    return sys::open("/", O_PATH | O_DIRECTORY);
  return directory;
}

/// Binds the rootfs with mount(2), on kernels without detached mounts. Opening the path a second
/// time is safe, because the path comes from the operator.
Result<SafeDir> attach_by_mount2(const HostPath& rootfs, Fd directory, const Procfs& procfs,
                                 const AnnounceMount& announce) {
  OCIRUN_TRY_ASSIGN(UniqueFd above, sys::open("/", O_PATH | O_DIRECTORY));
  const SafeDir host_root(std::move(above));
  OCIRUN_TRY_ASSIGN(UniqueFd target,
                    host_root.open(RootfsPath(rootfs.string()), O_PATH | O_DIRECTORY));
  const MountPoint point{host_root, procfs, RootfsPath(rootfs.string()), std::move(target), false};
  OCIRUN_TRY_ASSIGN(UniqueFd made, legacy::place_bind(point, directory, Recursion::kTree));
  if (announce) OCIRUN_TRY(announce(made));
  return SafeDir(std::move(made));
}

Result<SafeDir> attach_tree(const HostPath& rootfs, UniqueFd opened, const Procfs& procfs,
                            Propagation isolation, const AnnounceMount& announce) {
  const bool from_parent = static_cast<bool>(opened);
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_attachment(rootfs, from_parent));
  if (!from_parent) {
    auto clone = DetachedMount::clone_of(directory, Recursion::kTree);
    if (!clone && clone.error().number() == ENOSYS)
      return attach_by_mount2(rootfs, directory, procfs, announce);
    if (!clone) return std::unexpected(std::move(clone).error());
    opened = std::move(*clone).release();
  }
  DetachedMount tree(std::move(opened));
  if (from_parent) OCIRUN_TRY(change_propagation(procfs, tree.fd(), isolation, Recursion::kTree));
  if (announce) OCIRUN_TRY(announce(tree.fd()));
  if (auto done = tree.attach(directory); !done) {
    if (done.error().number() == ENOSYS && !from_parent)
      return attach_by_mount2(rootfs, directory, procfs, nullptr);
    return std::unexpected(std::move(done).error());
  }
  return SafeDir(std::move(tree).release());
}

/// The mount points of the host's procfs and sysfs mounts, the latest mount first. Mounts on and
/// below `root` belong to the container and are left out.
Result<std::vector<std::string>> kernel_mounts_outside(const std::string& root,
                                                       const Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(const std::string mountinfo, read_mountinfo(procfs));
  std::vector<std::string> found;
  for (std::string_view rest = mountinfo; const auto entry = next_mount(rest);) {
    if (entry->type != "proc" && entry->type != "sysfs") continue;
    std::string path = unescape_path(entry->mount_point);
    if (!(path + "/").starts_with(root + "/")) found.insert(found.begin(), std::move(path));
  }
  return found;
}

/// A file that is to be masked or made read-only.
struct Found {
  UniqueFd file;
  bool is_directory = false;
  bool is_root = false;
};

/// Opens the files that are to be masked or made read-only, below the container's root.
class Finder {
 public:
  static Result<Finder> below(const SafeDir& root) {
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(root.fd()));
    return Finder(root, info);
  }

  const SafeDir& root() const { return root_; }

  /// The file at the path; nothing if the path does not exist.
  Result<std::optional<Found>> find(const RootfsPath& path) const {
    auto file = root_.open(path, O_PATH);
    if (is_missing(file)) return std::nullopt;
    if (!file) return std::unexpected(std::move(file).error());
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(*file));
    OCIRUN_TRY_ASSIGN(const bool is_root, is_the_root(*file, info));
    return Found{
        .file = *std::move(file), .is_directory = S_ISDIR(info.st_mode), .is_root = is_root};
  }

 private:
  Finder(const SafeDir& root, const struct stat& info) : root_(root), root_info_(info) {}

  Result<bool> is_the_root(Fd file, const struct stat& info) const {
    if (info.st_dev != root_info_.st_dev || info.st_ino != root_info_.st_ino) return false;
    OCIRUN_TRY_ASSIGN(const std::uint64_t mount, sys::mount_id(root_.fd()));
    OCIRUN_TRY_ASSIGN(const std::uint64_t other, sys::mount_id(file));
    return mount == other;
  }

  const SafeDir& root_;
  struct stat root_info_;
};

/// The masks of one container. Each cover is attached once, and the attached mount is cloned for
/// further paths, because a detached tree can be cloned only since Linux 6.15.
class Masks {
 public:
  Masks(const Finder& finder, const Procfs& procfs, Fd null, std::string_view mount_label)
      : finder_(finder), procfs_(procfs), mount_label_(mount_label) {
    null_.first = null;
  }

  Result<void> cover(const RootfsPath& path) {
    OCIRUN_TRY_ASSIGN(std::optional<Found> found, finder_.find(path));
    if (!found) return {};
    if (found->is_root) return refuse("the root itself cannot be masked");
    const MountPoint point{finder_.root(), procfs_, path, std::move(found->file), false};
    return found->is_directory ? cover_directory(point) : cover_file(point);
  }

 private:
  struct Cover {
    UniqueFd owned;
    Fd first;  // the mount that is attached first and cloned later
    bool attached = false;
  };

  Result<void> attach(Cover& cover, const MountPoint& point) {
    if (cover.attached) {
      OCIRUN_TRY(place_bind(point, cover.first, Placement()));
      return {};
    }
    cover.attached = true;
    return sys::move_mount(cover.first, point.target);
  }

  Result<void> cover_file(const MountPoint& point) {
    if (null_.first.value >= 0) {
      const bool first = !null_.attached;
      auto done = attach(null_, point);
      if (done && first) done = change_attributes(procfs_, null_.first, kHostNode, Recursion::kTop);
      if (done || done.error().number() != ENOSYS) return done;
    }
    // Without detached mounts: the container's own /dev/null, verified through its descriptor.
    OCIRUN_TRY_ASSIGN(null_.owned, finder_.root().open(dev_path("null"), O_PATH | O_NOFOLLOW));
    OCIRUN_TRY(verify_null(null_.owned));
    null_.first = null_.owned;
    null_.attached = true;
    return attach(null_, point);
  }

  /// Covers a directory by a tmpfs that can hold nothing. On some kernels its root directory counts
  /// as an inode.
  Result<void> cover_directory(const MountPoint& point) {
    if (directory_.attached) return attach(directory_, point);
    Filesystem empty;
    empty.type = "tmpfs";
    empty.source = "tmpfs";
    empty.selinux_context = mount_label_;
    empty.data = {"nr_blocks=1", "nr_inodes=1"};
    auto made = place_filesystem(point, empty, MOUNT_ATTR_RDONLY);
    if (!made) {
      empty.data = {"nr_blocks=1", "nr_inodes=2"};
      made = place_filesystem(point, empty, MOUNT_ATTR_RDONLY);
    }
    if (!made) return std::unexpected(std::move(made).error());
    directory_.owned = *std::move(made);
    directory_.first = directory_.owned;
    directory_.attached = true;
    return {};
  }

  const Finder& finder_;
  const Procfs& procfs_;
  std::string_view mount_label_;
  Cover null_;
  Cover directory_;
};

/// Whether the path occurs earlier in the list: engines join lists, so a path may occur twice. Only
/// an equal text counts, because another spelling of the path may lead through a symlink.
bool stands_before(std::span<const RootfsPath> paths, std::size_t index) {
  return std::ranges::find(paths.first(index), paths[index]) !=
         paths.begin() + static_cast<std::ptrdiff_t>(index);
}

Result<void> make_read_only(const Finder& finder, const Procfs& procfs, const RootfsPath& path) {
  OCIRUN_TRY_ASSIGN(std::optional<Found> found, finder.find(path));
  if (!found) return {};
  // A bind onto the root would have no effect, because the process's root is the mount below it.
  if (found->is_root) return make_root_read_only(procfs);
  const MountPoint point{finder.root(), procfs, path, std::move(found->file), false};
  Placement placement;
  placement.recursion = Recursion::kTree;  // mounts below stay visible
  placement.attributes.set = MOUNT_ATTR_RDONLY;
  OCIRUN_TRY(place_bind(point, point.target, placement));
  return {};
}

}  // namespace

// A slave still receives the host's mount events, as `shared` and `slave` ask for.
Propagation isolation_of(Propagation rootfs_propagation) {
  const bool hears_host =
      rootfs_propagation == Propagation::kShared || rootfs_propagation == Propagation::kSlave;
  return hears_host ? Propagation::kSlave : Propagation::kPrivate;
}

Result<void> isolate_mount_tree(Propagation rootfs_propagation) {
  const unsigned long flag = propagation_flag(isolation_of(rootfs_propagation));
  auto done = sys::mount("none", "/", nullptr, flag | MS_REC, nullptr);
  if (!done && done.error().number() == EINVAL)
    done.error().within(
        "/ is not a mount point, because this is a chroot: before chroot DIR, do mount --rbind DIR "
        "DIR, in a mount namespace of its own (unshare --mount) or with --no-pivot");
  return within(std::move(done), "separate the mounts from the host's");
}

Result<SafeDir> attach_rootfs(const HostPath& rootfs, UniqueFd opened, const Procfs& procfs,
                              Propagation rootfs_propagation, const AnnounceMount& announce) {
  return within(
      attach_tree(rootfs, std::move(opened), procfs, isolation_of(rootfs_propagation), announce),
      "mount the rootfs " + rootfs.string());
}

Result<void> pivot_into(const SafeDir& root) {
  OCIRUN_TRY_ASSIGN(const UniqueFd old_root, sys::open("/", O_PATH | O_DIRECTORY));
  OCIRUN_TRY(sys::fchdir(root.fd()));
  auto pivoted = sys::pivot_root(".", ".");
  if (!pivoted && pivoted.error().number() == EINVAL)
    pivoted.error().within(
        "pivot_root leaves neither an initramfs nor a chroot below a shared mount: use --no-pivot");
  OCIRUN_TRY(std::move(pivoted));
  // The old root is now mounted on top of the new one.
  OCIRUN_TRY(sys::fchdir(old_root));
  OCIRUN_TRY(within(sys::unmount(".", sys::kDetach), "leave the host's root"));
  return sys::chdir("/");
}

Result<void> move_into(const SafeDir& root, const Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(const std::string path, procfs.path_of(root.fd()));
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> mounts, kernel_mounts_outside(path, procfs));
  for (const std::string& mount : mounts)
    OCIRUN_TRY(within(sys::unmount(mount.c_str(), sys::kDetach), "take " + mount + " away"));
  OCIRUN_TRY(sys::fchdir(root.fd()));
  OCIRUN_TRY(within(sys::mount(".", "/", nullptr, MS_MOVE, nullptr), "move the rootfs to /"));
  OCIRUN_TRY(sys::chroot("."));
  return sys::chdir("/");
}

Result<void> chroot_into(const SafeDir& root) {
  OCIRUN_TRY(sys::fchdir(root.fd()));
  OCIRUN_TRY(sys::chroot("."));
  return sys::chdir("/");
}

Result<void> set_root_propagation(Propagation propagation, Recursion recursion) {
  if (propagation == Propagation::kUnchanged) return {};
  const unsigned long flags =
      propagation_flag(propagation) | (recursion == Recursion::kTree ? MS_REC : 0);
  return within(sys::mount("none", "/", nullptr, flags, nullptr), "rootfsPropagation");
}

Result<void> make_root_read_only(const Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(const UniqueFd root, sys::open("/", O_PATH | O_DIRECTORY));
  return within(change_attributes(procfs, root, {.set = MOUNT_ATTR_RDONLY}, Recursion::kTop),
                "make / read-only");
}

Result<void> mask_paths(const SafeDir& root, const Procfs& procfs,
                        std::span<const RootfsPath> paths, Fd verified_null_mount,
                        std::string_view mount_label) {
  OCIRUN_TRY_ASSIGN(const Finder finder, Finder::below(root));
  Masks masks(finder, procfs, verified_null_mount, mount_label);
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!stands_before(paths, i))
      OCIRUN_TRY(
          within(masks.cover(paths[i]), "/linux/maskedPaths/{}: mask {}", i, paths[i].string()));
  return {};
}

Result<void> make_paths_read_only(const SafeDir& root, const Procfs& procfs,
                                  std::span<const RootfsPath> paths) {
  OCIRUN_TRY_ASSIGN(const Finder finder, Finder::below(root));
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!stands_before(paths, i))
      OCIRUN_TRY(within(make_read_only(finder, procfs, paths[i]),
                        "/linux/readonlyPaths/{}: make {} read-only", i, paths[i].string()));
  return {};
}

Result<UniqueFd> open_null_mount() {
  OCIRUN_TRY_ASSIGN(const UniqueFd null, open_verified_null());
  auto mount = DetachedMount::clone_of(null, Recursion::kTop);
  if (!mount && mount.error().number() == ENOSYS) return UniqueFd();
  if (!mount) return std::unexpected(std::move(mount).error());
  // Sets the attributes before any process can reach the mount. An error is ignored, because
  // mask_paths() sets the attributes again after it has attached the mount.
  ignore(set_mount_attributes(mount->fd(), kHostNode, Recursion::kTop));
  return std::move(*mount).release();
}

}  // namespace ocirun::linux
