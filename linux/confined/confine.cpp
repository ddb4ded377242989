#include "linux/confined/confine.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/exec.hpp"

#if defined(__has_feature)
#define OCIRUN_HAS_FEATURE(name) __has_feature(name)
#else
#define OCIRUN_HAS_FEATURE(name) 0
#endif

namespace ocirun::linux {
namespace {

/// A sanitized build sets no RLIMIT_AS, and allows kSanitizers: AddressSanitizer reserves terabytes
/// of addresses and asks for the stack of signals; UndefinedBehaviorSanitizer, which is built in
/// with it, asks pipes whether memory can be read.
#if defined(__SANITIZE_ADDRESS__) || OCIRUN_HAS_FEATURE(address_sanitizer)
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif
#undef OCIRUN_HAS_FEATURE

}  // namespace

Result<void> give_up_privileges() {
  OCIRUN_TRY(drop_bounding_set({}));
  OCIRUN_TRY(set_capabilities({}));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errno, "set no_new_privs");
  return {};
}

Result<void> enter_empty_root(const std::string& place) {
  OCIRUN_TRY(sys::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
  OCIRUN_TRY(sys::mount("tmpfs", place.c_str(), "tmpfs",
                        MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k"));
  OCIRUN_TRY(sys::chdir(place.c_str()));
  OCIRUN_TRY(sys::pivot_root(".", "."));
  OCIRUN_TRY(sys::unmount(".", sys::kDetach));
  return sys::chdir("/");
}

namespace {

constexpr std::uint64_t kUnknownSize = std::uint64_t{1} << 30;  // of the process, without /proc

/// Uses a root without any file. Before Linux 5.2, or without the right to mount, uses a root that
/// has only the kernel's texts about the process's own descriptors (/proc/self/fdinfo).
Result<void> use_empty_root() {
  const auto empty = []() -> Result<UniqueFd> {
    OCIRUN_TRY(leave_mount_namespace());
    OCIRUN_TRY_ASSIGN(const UniqueFd filesystem, sys::fsopen("tmpfs"));
    OCIRUN_TRY(sys::fsconfig(filesystem, FSCONFIG_CMD_CREATE, nullptr, nullptr));
    return sys::fsmount(filesystem, MOUNT_ATTR_RDONLY);
  }();
  if (empty) return change_root(*empty);
  OCIRUN_TRY_ASSIGN(const Procfs procfs, Procfs::open(Procfs::Subset::kProcesses));
  OCIRUN_TRY_ASSIGN(const UniqueFd descriptors,
                    procfs.open_file("self/fdinfo", O_PATH | O_DIRECTORY));
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

/// Becomes the user and the group 65534, which own nothing. Without the rights, or in a user
/// namespace without these ids, the process keeps its ids, but loses its capabilities all the same.
void become_nobody_if_possible() {
  constexpr unsigned kNobody = 65534;
  const auto uid = Uid::make(kNobody);
  const auto gid = Gid::make(kNobody);
  ignore(set_groups({}));
  ignore(become_user(*uid, *gid));
}

Result<void> keep_capabilities(CapabilitySet wanted) {
  OCIRUN_TRY_ASSIGN(const auto grantable, grantable_capabilities(wanted));
  if (grantable.permitted.has(CAP_SETPCAP)) OCIRUN_TRY(drop_bounding_set(wanted));
  if (wanted.empty()) become_nobody_if_possible();
  CapabilitySets sets;
  sets.permitted = sets.effective =
      CapabilitySet::from_bits(wanted.bits() & grantable.permitted.bits());
  return set_capabilities(sets);
}

/// Called after the change of the ids, at which the kernel would clear PR_SET_PDEATHSIG. A process
/// in a pid namespace of its own cannot ask whether its parent has ended before prctl(2). But the
/// pipe `report` has lost its only reader then.
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
  OCIRUN_TRY(sys::fchdir(directory));
  return sys::chroot(".");
}

std::uint64_t own_memory() {
  const auto procfs = Procfs::open(Procfs::Subset::kProcesses);
  if (!procfs) return kUnknownSize;
  const auto text = procfs->read("self/statm");
  if (!text) return kUnknownSize;
  std::string_view rest = *text;
  const auto pages = number<std::uint64_t>(cut(rest, ' '));
  return pages ? *pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : kUnknownSize;
}

Result<void> confine_process(CapabilitySet wanted, std::uint64_t memory, Fd caller) {
  OCIRUN_TRY(limit(RLIMIT_CORE, 0));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errno, "set no_new_privs");
  OCIRUN_TRY(keep_capabilities(wanted));
  // Another process of the same user must not trace this one.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return fail(errno, "refuse to be traced");
  OCIRUN_TRY(end_with_caller(caller));
  if (!kIsSanitized) OCIRUN_TRY(limit(RLIMIT_AS, memory));
  return {};
}

Result<void> confine_to_descriptors(const Confinement& confinement) {
  close_descriptors_from(confinement.last_descriptor + 1);
  const std::uint64_t size = own_memory();
  // Without the rights for any such root, the other confinements must suffice.
  if (auto emptied = use_empty_root(); !emptied && is_transient(emptied.error().number()))
    return emptied;
  OCIRUN_TRY(limit(RLIMIT_FSIZE, confinement.file_bytes));
  return confine_process({}, size + confinement.memory, confinement.caller);
}

bool are_namespaces_refused(const Error& error) {
  const int number = error.number();
  return number == EPERM || number == ENOSYS || number == EINVAL || number == ENOSPC ||
         number == EUSERS;
}

namespace {

const std::vector<std::string> kReading{"read",    "pread64",    "write",     "writev",
                                        "lseek",   "_llseek",    "close",     "fstat",
                                        "fstat64", "newfstatat", "fstatat64", "statx"};

const std::vector<std::string> kRuntimeLibrary{
    "brk",          "munmap",          "mremap",        "madvise",      "futex",
    "futex_time64", "getrandom",       "clock_gettime", "gettimeofday", "clock_gettime64",
    "time",         "getpid",          "gettid",        "rt_sigaction", "rt_sigprocmask",
    "rt_sigreturn", "restart_syscall", "exit",          "exit_group"};

const std::vector<std::string> kSanitizers{"pipe", "pipe2", "sigaltstack"};

}  // namespace

SeccompArgument bits(std::uint32_t index, std::uint64_t mask, std::uint64_t value) {
  return {.index = index, .value = mask, .value_two = value, .op = SeccompOperator::kMaskedEqual};
}

SeccompArgument equals(std::uint32_t index, std::uint64_t value) {
  return bits(index, UINT32_MAX, value);
}

void allow(SeccompProfile& profile, std::vector<std::string> names,
           std::vector<SeccompArgument> arguments) {
  profile.rules.push_back({.names = std::move(names),
                           .action = SeccompAction::kAllow,
                           .errno_ret = {},
                           .arguments = std::move(arguments)});
}

void answer(SeccompProfile& profile, int error, std::vector<std::string> names,
            std::vector<SeccompArgument> arguments) {
  profile.rules.push_back({.names = std::move(names),
                           .action = SeccompAction::kErrno,
                           .errno_ret = static_cast<std::uint32_t>(error),
                           .arguments = std::move(arguments)});
}

void allow_descriptor_flags(SeccompProfile& profile) {
  for (const int command : {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC})
    allow(profile, {"fcntl", "fcntl64"}, {equals(1, static_cast<std::uint64_t>(command))});
}

SeccompProfile least_calls() {
  SeccompProfile profile;
  profile.default_action = SeccompAction::kKillProcess;
  profile.flags = 0;
  allow(profile, kReading);
  allow(profile, kRuntimeLibrary);
  if (kIsSanitized) allow(profile, kSanitizers);
  allow(profile, {"mmap", "mmap2", "mprotect"}, {bits(2, PROT_EXEC, 0)});
  allow(profile, {"tgkill"}, {equals(0, static_cast<std::uint64_t>(::getpid()))});  // abort(3)
  return profile;
}

Result<void> load_calls(const SeccompProfile& profile) {
  std::vector<std::string> unknown_names;  // of calls that are newer than libseccomp
  OCIRUN_TRY_ASSIGN(const SeccompFilter filter, compile_seccomp(profile, unknown_names));
  OCIRUN_TRY(load_seccomp(filter));
  return {};
}

}  // namespace ocirun::linux
