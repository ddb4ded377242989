#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

enum class SeccompAction : std::uint8_t {
  kKillThread,
  kKillProcess,
  kTrap,
  kErrno,
  kTrace,
  kAllow,
  kLog,
  kNotify
};
enum class SeccompOperator : std::uint8_t {
  kNotEqual,
  kLess,
  kLessEqual,
  kEqual,
  kGreaterEqual,
  kGreater,
  kMaskedEqual
};

struct SeccompArgument {
  std::uint32_t index = 0;  // 0 … 5
  std::uint64_t value = 0;
  std::uint64_t value_two = 0;
  SeccompOperator op = SeccompOperator::kEqual;

  bool operator==(const SeccompArgument&) const = default;
};

struct SeccompRule {
  std::vector<std::string> names;
  SeccompAction action = SeccompAction::kAllow;
  std::optional<std::uint32_t> errno_ret;  // only with kErrno, kTrace (S-2)
  std::vector<SeccompArgument> arguments;
};

/// linux.seccomp (S-1 … S-14).
struct SeccompProfile {
  SeccompAction default_action = SeccompAction::kAllow;
  std::optional<std::uint32_t> default_errno_ret;
  std::vector<std::uint32_t>
      architectures;  // libseccomp's SCMP_ARCH_* tokens; the native one is always included
  std::optional<std::uint32_t>
      flags;  // SECCOMP_FILTER_FLAG_*; absent: SPEC_ALLOW where the kernel has it
  std::vector<SeccompRule> rules;
  HostPath listener_path;
  std::string listener_metadata;
  bool uses_notify() const;
  /// Whether no action kills the caller or asks another process: a refused system call only gets an
  /// errno.
  bool spares_caller() const;
};

std::optional<SeccompAction> seccomp_action(
    std::string_view name);  // "SCMP_ACT_ERRNO", "SCMP_ACT_KILL" …
std::optional<SeccompOperator> seccomp_operator(std::string_view name);    // "SCMP_CMP_EQ" …
std::optional<std::uint32_t> seccomp_architecture(std::string_view name);  // "SCMP_ARCH_X86_64" …
std::optional<std::uint32_t> seccomp_flag(std::string_view name);  // "SECCOMP_FILTER_FLAG_LOG" …
std::string_view seccomp_action_name(SeccompAction action);
std::string_view seccomp_operator_name(SeccompOperator compares);
std::string_view seccomp_architecture_name(std::uint32_t token);
std::vector<std::string_view> seccomp_action_names();
std::vector<std::string_view> seccomp_operator_names();
std::vector<std::string_view> seccomp_architecture_names();
std::vector<std::string_view> seccomp_flag_names();
/// The architectures whose programs this kernel may run (SCMP_ARCH_*), the native one first.
std::vector<std::uint32_t> runnable_architectures();
/// Whether libseccomp knows this system call on any architecture.
bool is_system_call(const std::string& name);
/// The greatest errnoRet allowed for ERRNO or TRACE; nothing for other actions.
std::optional<std::uint32_t> greatest_errno(SeccompAction action);
/// The flags that the running kernel supports.
std::vector<std::string_view> supported_seccomp_flags();
/// The flags for a profile without `flags`: SPEC_ALLOW where the kernel has it (S-4).
std::uint32_t default_seccomp_flags();
/// "2.5.4"
std::string libseccomp_version();

/// A compiled filter: the program for seccomp(2), and the flags to load it with.
struct SeccompFilter {
  std::vector<sock_filter> program;
  std::uint32_t flags = 0;
  bool notify = false;
};

/// Compiles a profile; called by the parent. The native architecture is always
/// included. Architectures that this kernel cannot run are left out, since their system calls do
/// not exist here. System calls that libseccomp does not know are skipped and listed in one line of
/// `warnings`. System calls that are newer than the profile get ENOSYS where the default action
/// kills, traps or returns another errno (S-11). Errors name the field: an errno with an action
/// that takes none (S-2), NOTIFY as the default or for write (S-5), a flag that the kernel lacks
/// (S-4), rules that contradict each other, more than 4096 instructions.
Result<SeccompFilter> compile_seccomp(const SeccompProfile& profile,
                                      std::vector<std::string>& warnings);

/// The answer of a filter to a system call, as far as it is certain before the call is made.
enum class Verdict {
  kUnknown,      // it depends on the call's arguments, on a tracer or an agent; or it is allowed
  kEndsCaller,   // SCMP_ACT_KILL_PROCESS, _KILL_THREAD or _TRAP
  kRefusesCall,  // SCMP_ACT_ERRNO
};

/// The filter's verdict on `call`, a number of the native architecture.
Verdict judge(const SeccompFilter& filter, int call);

/// Whether the filter lets `call` through whatever its arguments are, and asks nobody.
bool certainly_allows(const SeccompFilter& filter, int call);

/// Calls seccomp(SECCOMP_SET_MODE_FILTER). Returns the listener's descriptor if `filter.notify` is
/// set, else an empty one. Needs no_new_privs or CAP_SYS_ADMIN. Errors: EACCES without these; EBUSY
/// when another filter has a listener already.
Result<UniqueFd> load_seccomp(const SeccompFilter& filter);

}  // namespace ocirun::linux
