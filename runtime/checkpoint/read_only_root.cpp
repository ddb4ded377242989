#include "runtime/checkpoint/read_only_root.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/process/clone.hpp"

namespace ocirun::runtime {
namespace {

Result<void> change_root(Fd mount_namespace) {
  if (::setns(mount_namespace.value, CLONE_NEWNS) != 0)
    return fail(errno, "enter the container's mount namespace");
  TRY_ASSIGN(const UniqueFd root, linux::sys::open("/", O_PATH | O_DIRECTORY));
  return linux::set_mount_attributes(root, {.set = MOUNT_ATTR_RDONLY, .clear = 0},
                                     linux::Recursion::kTop);
}

}  // namespace

Result<void> make_root_read_only(const linux::Procfs& procfs, int pid) {
  TRY_ASSIGN(const UniqueFd mount_namespace,
             linux::sys::openat(procfs.fd(), fmt::format("{}/ns/mnt", pid).c_str(), O_RDONLY));
  TRY_ASSIGN(const linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto changed = change_root(mount_namespace);
    // An exit status has room for the numbers of all errors of these calls.
    ::_exit(changed ? 0 : (changed.error().number() == 0 ? EIO : changed.error().number()));
  }
  TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  if (status == 0) return {};
  return fail(WIFEXITED(status) ? WEXITSTATUS(status) : EIO,
              "/root/readonly: make the restored root read-only");
}

}  // namespace ocirun::runtime
