#include "pods/confined/calls.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "pods/confined/sanitized.hpp"

namespace ocirun::pods {
namespace {

using linux::SeccompAction;
using linux::SeccompArgument;
using linux::SeccompOperator;
using linux::SeccompProfile;

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
  TRY_ASSIGN(const linux::SeccompFilter filter, linux::compile_seccomp(profile, unknown_names));
  TRY(linux::load_seccomp(filter));
  return {};
}

}  // namespace ocirun::pods
