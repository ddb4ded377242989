#include "runtime/checkpoint/read_only_root.hpp"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "runtime/checkpoint/in_child.hpp"

namespace ocirun::runtime {

Result<void> make_root_read_only(const linux::Procfs& procfs, int pid) {
  TRY_ASSIGN(const UniqueFd mount_namespace,
             linux::sys::openat(procfs.fd(), fmt::format("{}/ns/mnt", pid).c_str(), O_RDONLY));
  auto changed = in_child("the process that changes the root", [&]() -> Result<void> {
    if (::setns(mount_namespace.get(), CLONE_NEWNS) != 0)
      return fail(errno, "enter the container's mount namespace");
    TRY_ASSIGN(const UniqueFd root, linux::sys::open("/", O_PATH | O_DIRECTORY));
    return linux::set_mount_attributes(root, {.set = MOUNT_ATTR_RDONLY, .clear = 0},
                                       linux::Recursion::kTop);
  });
  return within(std::move(changed), "/root/readonly: make the restored root read-only");
}

}  // namespace ocirun::runtime
