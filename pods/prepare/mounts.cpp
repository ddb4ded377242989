#include "pods/prepare/mounts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::size_t kMostOptions = 4095;  // mount(2): a page, with its NUL

/// Calls `act` with /proc/self/fd as the working directory: there the name of a descriptor is its
/// number. mount(2) takes names only, and 500 layers fit into its page of options only so.
Result<void> among_descriptors(const std::function<Result<void>()>& act) {
  TRY_ASSIGN(const UniqueFd here, sys::open(".", O_PATH | O_DIRECTORY));
  TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  TRY_ASSIGN(const UniqueFd descriptors, procfs.open_file("self/fd", O_PATH | O_DIRECTORY));
  TRY(sys::fchdir(descriptors));
  auto result = act();
  TRY(sys::fchdir(here));
  return result;
}

std::string name_of(Fd descriptor) { return fmt::format("{}", descriptor.value); }

}  // namespace

Result<void> enter_own_mount_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) return fail(errno, "make a mount namespace for the pod");
  return within(sys::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr),
                "keep the pod's mounts out of the host");
}

Result<void> mount_overlay(std::span<const Fd> layers, OpaqueMark mark, Fd upper, Fd work,
                           Fd target) {
  std::string lower;
  for (const Fd layer : layers) lower += (lower.empty() ? "" : ":") + name_of(layer);
  // redirect_dir and metacopy would let an attribute of a layer choose which file is shown.
  const std::string options =
      fmt::format("lowerdir={},upperdir={},workdir={},redirect_dir=nofollow,metacopy=off{}", lower,
                  name_of(upper), name_of(work), mark == OpaqueMark::kUser ? ",userxattr" : "");
  // Otherwise the end of the mount would wait until all that anybody has written to the filesystem
  // of `upper` is on the disk.
  const std::string fast = options + ",volatile";
  if (fast.size() > kMostOptions) return fail(E2BIG, "{} layers", layers.size());
  return among_descriptors([&] {
    const std::string to = name_of(target);
    auto mounted = sys::mount("overlay", to.c_str(), "overlay", 0, fast.c_str());
    if (mounted || mounted.error().number() != EINVAL) return mounted;
    return sys::mount("overlay", to.c_str(), "overlay", 0, options.c_str());  // before Linux 5.10
  });
}

Result<void> mount_memory(Fd target, const std::string& options) {
  return among_descriptors([&] {
    return sys::mount("tmpfs", name_of(target).c_str(), "tmpfs", MS_NOSUID | MS_NODEV,
                      options.c_str());
  });
}

Result<void> mount_disk(Fd device, Fd target) {
  // Nothing was written to the tables of inodes, which read as zeros: the kernel need not fill
  // them.
  return among_descriptors([&] {
    return sys::mount(name_of(device).c_str(), name_of(target).c_str(), "ext4",
                      MS_NOSUID | MS_NODEV, "noinit_itable");
  });
}

Result<void> bind_directory(Fd source, bool recursive, Fd target) {
  const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | static_cast<unsigned>(AT_EMPTY_PATH);
  TRY_ASSIGN(
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

}  // namespace ocirun::pods
