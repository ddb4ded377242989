#include "pods/prepare/mounts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/programs/program.hpp"
#include "pods/prepare/plan/admission.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kMostOptions = 4095;  // mount(2): a page, with its NUL

/// Calls `act` with /proc/self/fd as the working directory, where the name of a descriptor is its
/// number. mount(2) takes only names, and only such short names let 500 layers fit into its page of
/// options.
Result<void> among_descriptors(const std::function<Result<void>()>& act) {
  OCIRUN_TRY_ASSIGN(const UniqueFd here, sys::open(".", O_PATH | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  OCIRUN_TRY_ASSIGN(const UniqueFd descriptors, procfs.open_file("self/fd", O_PATH | O_DIRECTORY));
  OCIRUN_TRY(sys::fchdir(descriptors));
  auto result = act();
  OCIRUN_TRY(sys::fchdir(here));
  return result;
}

std::string descriptor_name(Fd descriptor) { return fmt::format("{}", descriptor.value); }

}  // namespace

Result<void> enter_own_mount_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) return fail(errno, "make a mount namespace for the pod");
  return within(sys::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr),
                "keep the pod's mounts out of the host");
}

Result<void> mount_overlay(std::span<const Fd> layers, OpaqueMark mark, Fd upper, Fd work,
                           Fd target) {
  std::string lower;
  for (const Fd layer : layers) lower += (lower.empty() ? "" : ":") + descriptor_name(layer);
  // redirect_dir and metacopy would let an attribute of a layer choose which file is shown.
  const std::string options = fmt::format(
      "lowerdir={},upperdir={},workdir={},redirect_dir=nofollow,metacopy=off{}", lower,
      descriptor_name(upper), descriptor_name(work), mark == OpaqueMark::kUser ? ",userxattr" : "");
  // Without `volatile`, unmounting would wait until all recent writes to the filesystem of `upper`
  // are on the disk, also those of other programs.
  const std::string fast = options + ",volatile";
  if (fast.size() > kMostOptions) return fail(E2BIG, "{} layers", layers.size());
  return among_descriptors([&] {
    const std::string to = descriptor_name(target);
    auto mounted = sys::mount("overlay", to.c_str(), "overlay", 0, fast.c_str());
    if (mounted || mounted.error().number() != EINVAL) return mounted;
    return sys::mount("overlay", to.c_str(), "overlay", 0, options.c_str());  // before Linux 5.10
  });
}

Result<void> mount_memory(Fd target, const std::string& options) {
  return among_descriptors([&] {
    return sys::mount("tmpfs", descriptor_name(target).c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
                      options.c_str());
  });
}

Result<void> bind_mount(Fd source, bool recursive, Fd target) {
  const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | static_cast<unsigned>(AT_EMPTY_PATH);
  OCIRUN_TRY_ASSIGN(
      const UniqueFd mount,
      sys::open_tree(source, "", recursive ? flags | static_cast<unsigned>(AT_RECURSIVE) : flags));
  return sys::move_mount(mount, target);
}

Result<void> unmount_at(const std::string& path) {
  auto unmounted = sys::unmount(path.c_str(), sys::kDetach);
  if (!unmounted && (unmounted.error().number() == EINVAL || unmounted.error().number() == ENOENT))
    return {};
  return unmounted;
}

namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

/// A filesystem for files that nobody needs after a crash: without a journal, and without a reserve
/// for root.
Result<void> make_filesystem(const std::string& path) {
  const std::string program = linux::find_program("mkfs.ext4");
  if (program.empty())
    return refuse(
        "a limit on disk needs the program mkfs.ext4 (Debian's package e2fsprogs), which "
        "is not installed; \"medium: Memory\" needs none");
  const std::vector<std::string> words{program, "-q", "-F", "-m", "0", "-O", "^has_journal", path};
  return within(linux::run_program(words), program);
}

/// Mounts the ext4 filesystem of a block device on the directory `target`.
Result<void> mount_disk(Fd device, Fd target) {
  // Nothing was written to the tables of inodes, which read as zeros: the kernel need not fill
  // them.
  return among_descriptors([&] {
    return sys::mount(descriptor_name(device).c_str(), descriptor_name(target).c_str(), "ext4",
                      MS_NOSUID | MS_NODEV, "noinit_itable");
  });
}

}  // namespace

Result<UniqueFd> mount_new_disk(const Site& site, const std::string& name, std::uint64_t bytes) {
  if (bytes < kLeastDisk)
    return refuse(
        "a limit on disk must be at least {}, not {}; with \"medium: Memory\" it may be "
        "smaller",
        bytes_text(kLeastDisk), bytes_text(bytes));
  OCIRUN_TRY_ASSIGN(const UniqueFd target, sys::openat(site.fd, name.c_str(), kOpenDirectory));
  const std::string image = name + ".disk";
  OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::openat(site.fd, image.c_str(),
                                                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    return fail(errno, "make a file of {}", bytes_text(bytes));
  OCIRUN_TRY(make_filesystem(fmt::format("{}/{}", site.path, image)));
  OCIRUN_TRY_ASSIGN(const UniqueFd device, linux::attach_loop_device(file));
  OCIRUN_TRY(within(mount_disk(device, target), "mount the filesystem of the volume"));
  OCIRUN_TRY_ASSIGN(UniqueFd root, sys::openat(site.fd, name.c_str(), kOpenDirectory));
  OCIRUN_TRY(
      sys::unlinkat(root, "lost+found", AT_REMOVEDIR));  // some programs want an empty directory
  return root;
}

namespace {

using linux::SafeDir;

Result<UniqueFd> open_part(const SubPath& part, SafeDir::Symlinks symlinks) {
  OCIRUN_TRY_ASSIGN(const SafeDir volume, SafeDir::open_root(HostPath(part.source)));
  const RootfsPath path("/" + part.path);
  auto found = volume.open(path, O_PATH, symlinks);
  if (found || found.error().number() != ENOENT) return found;
  if (!part.may_make) return refuse("there is no \"{}\", and the volume is read-only", part.path);
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(volume.fd()));
  // mkdir(2) sets the mode: fchmod(2) could change something that others have put there meanwhile.
  const mode_t before = ::umask(0);
  auto made = volume.make_directories(path, info.st_mode & 01777);
  ::umask(before);
  return made;
}

Result<UniqueFd> open_in_frame(const SubPath& part, SafeDir::Symlinks symlinks) {
  return within(open_part(part, symlinks), "volume \"{}\": subPath {}", part.volume, part.path);
}

/// Makes an empty directory, or an empty file, to mount on.
Result<UniqueFd> make_place(const std::string& path, bool is_directory) {
  OCIRUN_TRY_ASSIGN(const UniqueFd parent, linux::open_parent(HostPath(path)));
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const int flags : {0, AT_REMOVEDIR}) {
    const auto removed = sys::unlinkat(parent, name.c_str(), flags);
    if (removed || removed.error().number() == ENOENT) break;
  }
  if (is_directory)
    OCIRUN_TRY(sys::mkdirat(parent, name.c_str(), 0700));
  else
    OCIRUN_TRY(sys::mknodat(parent, name.c_str(), S_IFREG | 0600, 0));
  return sys::openat(parent, name.c_str(), O_PATH | O_NOFOLLOW);
}

}  // namespace

Result<void> check(const SubPath& part) {
  OCIRUN_TRY(open_in_frame(part, SafeDir::Symlinks::kRefuse));
  return {};
}

Result<void> show(const SubPath& part) {
  OCIRUN_TRY_ASSIGN(const UniqueFd found, open_in_frame(part, SafeDir::Symlinks::kInside));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(found));
  OCIRUN_TRY(unmount_at(part.shown_at));
  OCIRUN_TRY_ASSIGN(const UniqueFd place, make_place(part.shown_at, S_ISDIR(info.st_mode)));
  return bind_mount(found, part.recursive, place);
}

}  // namespace ocirun::pods
