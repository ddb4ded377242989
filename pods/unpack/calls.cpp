#include "pods/unpack/calls.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "linux/seccomp/filter.hpp"
#include "pods/unpack/sanitized.hpp"

namespace ocirun::pods {
namespace {

using linux::SeccompAction;
using linux::SeccompArgument;
using linux::SeccompOperator;
using linux::SeccompProfile;

// Of a call that exists under several names, an architecture has one or two.
const std::vector<std::string> kReading{"read",    "pread64",    "write",     "writev",
                                        "lseek",   "_llseek",    "close",     "fstat",
                                        "fstat64", "newfstatat", "fstatat64", "statx"};

const std::vector<std::string> kRuntimeLibrary{
    "brk",          "munmap",          "mremap",        "madvise",      "futex",
    "futex_time64", "getrandom",       "clock_gettime", "gettimeofday", "clock_gettime64",
    "time",         "getpid",          "gettid",        "rt_sigaction", "rt_sigprocmask",
    "rt_sigreturn", "restart_syscall", "exit",          "exit_group"};

const std::vector<std::string> kFilling{
    "pwrite64",   "ftruncate", "ftruncate64", "fstatfs",         "fstatfs64",    "readlinkat",
    "mkdirat",    "mknodat",   "symlinkat",   "linkat",          "unlinkat",     "renameat2",
    "fchown",     "fchownat",  "fchmod",      "chmod",           "fchmodat",     "utimensat",
    "getdents64", "fsetxattr", "fgetxattr",   "flistxattr",      "fremovexattr", "setxattr",
    "getxattr",   "listxattr", "removexattr", "utimensat_time64"};

const std::vector<std::string> kOpening{"open", "openat", "openat2"};

const std::vector<std::string> kSanitizers{"pipe", "pipe2", "sigaltstack"};

/// The first argument of openat(2) is a descriptor, or AT_FDCWD, a negative number.
constexpr std::uint64_t kSign = 0x80000000;

SeccompArgument bits(std::uint32_t index, std::uint64_t mask, std::uint64_t value) {
  return {.index = index, .value = mask, .value_two = value, .op = SeccompOperator::kMaskedEqual};
}

SeccompArgument equals(std::uint32_t index, std::uint64_t value) {
  return bits(index, UINT32_MAX, value);
}

void allow(SeccompProfile& profile, std::vector<std::string> names,
           std::vector<SeccompArgument> arguments = {}) {
  profile.rules.push_back({.names = std::move(names),
                           .action = SeccompAction::kAllow,
                           .errno_ret = {},
                           .arguments = std::move(arguments)});
}

void answer_enoent(SeccompProfile& profile, std::vector<std::string> names,
                   std::vector<SeccompArgument> arguments = {}) {
  profile.rules.push_back({.names = std::move(names),
                           .action = SeccompAction::kErrno,
                           .errno_ret = ENOENT,
                           .arguments = std::move(arguments)});
}

SeccompProfile profile_for(ArchiveWork work) {
  SeccompProfile profile;
  profile.default_action = SeccompAction::kKillProcess;
  profile.flags = 0;
  allow(profile, kReading);
  allow(profile, kRuntimeLibrary);
  if (kIsSanitized) allow(profile, kSanitizers);
  allow(profile, {"mmap", "mmap2", "mprotect"}, {bits(2, PROT_EXEC, 0)});
  allow(profile, {"tgkill"}, {equals(0, static_cast<std::uint64_t>(::getpid()))});  // abort(3)
  if (work == ArchiveWork::kIndex) {
    answer_enoent(profile, kOpening);
    return profile;
  }
  allow(profile, kFilling);
  for (const int command : {F_GETFL, F_SETFD})  // fdopendir(3)
    allow(profile, {"fcntl", "fcntl64"}, {equals(1, static_cast<std::uint64_t>(command))});
  answer_enoent(profile, {"open"});
  allow(profile, {"openat", "openat2"}, {bits(0, kSign, 0)});
  answer_enoent(profile, {"openat", "openat2"}, {bits(0, kSign, kSign)});
  return profile;
}

}  // namespace

Result<void> allow_calls(ArchiveWork work) {
  std::vector<std::string> unknown_names;  // of calls that are newer than libseccomp
  TRY_ASSIGN(const linux::SeccompFilter filter,
             linux::compile_seccomp(profile_for(work), unknown_names));
  TRY(linux::load_seccomp(filter));
  return {};
}

}  // namespace ocirun::pods
