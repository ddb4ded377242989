#include "pods/confined/confine.hpp"

#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/exec.hpp"
#include "pods/confined/sanitized.hpp"

namespace ocirun::pods {

Result<void> give_up_privileges() {
  TRY(linux::drop_bounding_set({}));
  TRY(linux::set_capabilities({}));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errno, "set no_new_privs");
  return {};
}

Result<void> enter_empty_root(const std::string& place) {
  TRY(linux::sys::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
  TRY(linux::sys::mount("tmpfs", place.c_str(), "tmpfs",
                        MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k"));
  TRY(linux::sys::chdir(place.c_str()));
  TRY(linux::sys::pivot_root(".", "."));
  TRY(linux::sys::unmount(".", linux::sys::kDetach));
  return linux::sys::chdir("/");
}

namespace {

namespace sys = linux::sys;

constexpr std::uint64_t kUnknownSize = std::uint64_t{1} << 30;  // of the process, without /proc

/// A root without any file, or, before Linux 5.2 and without the right to make a mount, one with
/// nothing but the kernel's texts about the process' own descriptors.
Result<void> use_empty_root() {
  const auto empty = []() -> Result<UniqueFd> {
    TRY(leave_mount_namespace());
    TRY_ASSIGN(const UniqueFd filesystem, sys::fsopen("tmpfs"));
    TRY(sys::fsconfig(filesystem, FSCONFIG_CMD_CREATE, nullptr, nullptr));
    return sys::fsmount(filesystem, MOUNT_ATTR_RDONLY);
  }();
  if (empty) return change_root(*empty);
  TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  TRY_ASSIGN(const UniqueFd descriptors, procfs.open_file("self/fdinfo", O_PATH | O_DIRECTORY));
  return change_root(descriptors);
}

Result<void> limit(int resource, rlim_t most) {
  rlimit limits{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limits) != 0)
    return fail(errno, "read a resource limit");
  limits.rlim_max = std::min(limits.rlim_max, most);
  limits.rlim_cur = std::min(limits.rlim_cur, limits.rlim_max);
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &limits) != 0)
    return fail(errno, "set a resource limit");
  return {};
}

/// The user and the group 65534, which own nothing. Without the rights, or in a user namespace
/// without these ids, the process stays who it is, and has no capability either.
void become_nobody_if_possible() {
  constexpr unsigned kNobody = 65534;
  const auto uid = Uid::make(kNobody);
  const auto gid = Gid::make(kNobody);
  static_cast<void>(linux::set_groups({}));
  static_cast<void>(linux::become_user(*uid, *gid));
}

Result<void> keep_capabilities(linux::CapabilitySet wanted) {
  TRY_ASSIGN(const auto grantable, linux::grantable_capabilities(wanted));
  if (grantable.permitted.has(CAP_SETPCAP)) TRY(linux::drop_bounding_set(wanted));
  if (wanted.empty()) become_nobody_if_possible();
  linux::CapabilitySets sets;
  sets.permitted = sets.effective =
      linux::CapabilitySet::from_bits(wanted.bits() & grantable.permitted.bits());
  return linux::set_capabilities(sets);
}

/// The kernel clears the signal when a process changes its ids. In a pid namespace
/// of its own the process cannot ask for its parent; but the report loses its only reader with it.
Result<void> end_with_caller(Fd report) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return fail(errno, "end with the caller");
  pollfd pipe{report.value, 0, 0};
  if (::poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0)
    return refuse("the caller has ended");
  return {};
}

}  // namespace

Result<void> leave_mount_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) return fail(errno, "make a mount namespace");
  return sys::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
}

Result<void> change_root(Fd directory) {
  TRY(sys::fchdir(directory));
  return sys::chroot(".");
}

std::uint64_t own_memory() {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  if (!procfs) return kUnknownSize;
  const auto text = procfs->read("self/statm");
  if (!text) return kUnknownSize;
  std::string_view rest = *text;
  const auto pages = linux::number<std::uint64_t>(linux::cut(rest, ' '));
  return pages ? *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : kUnknownSize;
}

Result<void> confine_process(linux::CapabilitySet wanted, std::uint64_t memory, Fd caller) {
  TRY(limit(RLIMIT_CORE, 0));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errno, "set no_new_privs");
  TRY(keep_capabilities(wanted));
  // Another process of the same user must not trace this one.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return fail(errno, "refuse to be traced");
  TRY(end_with_caller(caller));
  if (!kIsSanitized) TRY(limit(RLIMIT_AS, memory));
  return {};
}

Result<void> confine_to_descriptors(const Remains& remains) {
  linux::close_descriptors_from(remains.last_descriptor + 1);
  const std::uint64_t size = own_memory();
  // Without the rights, the descriptors and capabilities must do.
  static_cast<void>(use_empty_root());
  TRY(limit(RLIMIT_FSIZE, remains.file_bytes));
  return confine_process({}, size + remains.memory, remains.caller);
}

bool are_namespaces_refused(const Error& error) {
  const int number = error.number();
  return number == EPERM || number == ENOSYS || number == EINVAL || number == ENOSPC ||
         number == EUSERS;
}

}  // namespace ocirun::pods
