#include "pods/unpack/confine.hpp"

#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/exec.hpp"
#include "pods/images/unpack_job.hpp"
#include "pods/unpack/sanitized.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr rlim_t kUnknownSize = rlim_t{1} << 30;  // of the process, where there is no /proc

/// A mount of its own for a directory: ".." does not lead out of it. Since Linux 5.12 nothing in it
/// is executed, and it has `more_attributes`.
Result<UniqueFd> as_mount(Fd directory, std::uint64_t more_attributes) {
  constexpr auto kFlags =
      static_cast<unsigned>(OPEN_TREE_CLONE) | static_cast<unsigned>(AT_EMPTY_PATH);
  TRY_ASSIGN(UniqueFd mount, sys::open_tree(directory, "", kFlags));
  mount_attr attributes{};
  attributes.attr_set = static_cast<std::uint64_t>(MOUNT_ATTR_NOSUID) | MOUNT_ATTR_NODEV |
                        MOUNT_ATTR_NOEXEC | more_attributes;
  const auto set = sys::mount_setattr(mount, 0, attributes);
  if (!set && set.error().number() != ENOSYS) return std::unexpected(set.error());
  return mount;
}

Result<void> leave_mount_namespace() {
  if (::unshare(CLONE_NEWNS) != 0) return fail(errno, "make a mount namespace");
  return sys::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
}

/// Replaces the directories by mounts, which stay open until the process ends, and leaves the
/// caller's mount namespace. In this order: a directory of another mount namespace cannot become a
/// mount.
Result<void> use_mounts(LayerPlaces& places) {
  TRY_ASSIGN(UniqueFd into, as_mount(places.into, 0));
  UniqueFd below;
  if (places.below) {
    TRY_ASSIGN(below, as_mount(*places.below, MOUNT_ATTR_RDONLY));
    ::close(places.below->value);
    places.below = Fd{below.release()};
  }
  ::close(places.into.value);
  places.into = Fd{into.release()};
  return leave_mount_namespace();
}

Result<void> change_root(Fd directory) {
  TRY(sys::fchdir(directory));
  return sys::chroot(".");
}

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

rlim_t own_size() {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  if (!procfs) return kUnknownSize;
  const auto text = procfs->read("self/statm");
  if (!text) return kUnknownSize;
  std::string_view rest = *text;
  const auto pages = linux::number<rlim_t>(linux::cut(rest, ' '));
  return pages ? *pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) : kUnknownSize;
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

linux::CapabilitySet capabilities_for(OpaqueMark mark) {
  linux::CapabilitySet wanted;
  for (const int capability :
       {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_MKNOD, CAP_SETFCAP})
    wanted.add(static_cast<unsigned>(capability));
  if (mark == OpaqueMark::kTrusted) wanted.add(CAP_SYS_ADMIN);  // for attributes "trusted.*"
  return wanted;
}

/// What every process that reads an archive gives up in the end. `size`: of its memory before.
Result<void> confine_rest(linux::CapabilitySet wanted, rlim_t size, Fd report) {
  TRY(limit(RLIMIT_CORE, 0));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errno, "set no_new_privs");
  TRY(keep_capabilities(wanted));
  // Another process of the same user must not trace this one.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return fail(errno, "refuse to be traced");
  TRY(end_with_caller(report));
  if (!kIsSanitized) TRY(limit(RLIMIT_AS, size + kMostUnpackMemory));
  return {};
}

}  // namespace

Result<void> confine_to(LayerPlaces& places, OpaqueMark mark, Fd report, std::span<const Fd> keep) {
  std::vector<Fd> kept(keep.begin(), keep.end());
  kept.insert(kept.end(), {report, places.into});
  if (places.below) kept.push_back(*places.below);
  linux::close_descriptors_but(kept);
  const rlim_t size = own_size();
  // Without these rights, or before Linux 5.2, the descriptors and capabilities must do.
  static_cast<void>(use_mounts(places));
  if (auto changed = change_root(places.into); !changed && changed.error().number() != EPERM)
    return changed;
  return confine_rest(capabilities_for(mark), size, report);
}

Result<void> confine_to_descriptors(Fd report, int last, std::uint64_t most_bytes) {
  linux::close_descriptors_from(last + 1);
  const rlim_t size = own_size();
  // Without the rights, the descriptors and capabilities must do.
  static_cast<void>(use_empty_root());
  TRY(limit(RLIMIT_FSIZE, most_bytes));
  return confine_rest({}, size, report);
}

}  // namespace ocirun::pods
