#include "linux/seccomp/filter.hpp"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <optional>

#include "linux/base/name_table.hpp"
#include "linux/base/timeline.hpp"

namespace ocirun::linux {
namespace {

long seccomp(unsigned operation, unsigned long flags, const void* arguments) {
  return ::syscall(SYS_seccomp, operation, flags, arguments);
}

// seccomp(2) checks the flags before the program, so with a null program EFAULT means that the
// flags are supported.
bool kernel_takes(std::uint32_t flags) {
  if (flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
  return seccomp(SECCOMP_SET_MODE_FILTER, flags, nullptr) < 0 && errno == EFAULT;
}

std::string_view advice(int error) {
  if (error == EACCES) return " (needs /process/noNewPrivileges or CAP_SYS_ADMIN)";
  if (error == EBUSY) return " (another filter of this process has a listener already)";
  if (error == ENOSYS) return " (the kernel was built without seccomp filters)";
  return "";
}

}  // namespace

std::vector<std::string_view> supported_seccomp_flags() {
  std::vector<std::string_view> supported;
  for (const std::string_view name : seccomp_flag_names())
    if (kernel_takes(seccomp_flag(name).value_or(0))) supported.push_back(name);
  return supported;
}

std::uint32_t default_seccomp_flags() {
  constexpr std::uint32_t kDefault = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  return kernel_takes(kDefault) ? kDefault : 0;
}

Result<UniqueFd> load_seccomp(const SeccompFilter& filter) {
  std::uint32_t flags = filter.flags;
  if (filter.notify) {
    flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // Both flags use the return value: NEW_LISTENER for the listener, TSYNC for the thread that
    // could not be synchronized. TSYNC_ESRCH (Linux 5.7) makes TSYNC fail with ESRCH instead.
    if (flags & SECCOMP_FILTER_FLAG_TSYNC) flags |= SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
  }
  const sock_fprog program{.len = static_cast<unsigned short>(filter.program.size()),
                           .filter = const_cast<sock_filter*>(filter.program.data())};
  timeline::leave("load the seccomp filter");  // the filter may refuse the calls of a Span
  const long answer = seccomp(SECCOMP_SET_MODE_FILTER, flags, &program);
  if (answer < 0) {
    const int error = errno;
    return fail(error, "load the seccomp filter{}", advice(error));
  }
  if (filter.notify) return UniqueFd(static_cast<int>(answer));
  if (answer > 0) return refuse("load the seccomp filter: thread {} cannot follow", answer);
  return UniqueFd();
}

namespace {

constexpr Named<SeccompAction> kActions[] = {
    {"SCMP_ACT_KILL", SeccompAction::kKillThread},
    {"SCMP_ACT_KILL_PROCESS", SeccompAction::kKillProcess},
    {"SCMP_ACT_KILL_THREAD", SeccompAction::kKillThread},
    {"SCMP_ACT_TRAP", SeccompAction::kTrap},
    {"SCMP_ACT_ERRNO", SeccompAction::kErrno},
    {"SCMP_ACT_TRACE", SeccompAction::kTrace},
    {"SCMP_ACT_ALLOW", SeccompAction::kAllow},
    {"SCMP_ACT_LOG", SeccompAction::kLog},
    {"SCMP_ACT_NOTIFY", SeccompAction::kNotify},
};

constexpr Named<SeccompOperator> kOperators[] = {
    {"SCMP_CMP_NE", SeccompOperator::kNotEqual},
    {"SCMP_CMP_LT", SeccompOperator::kLess},
    {"SCMP_CMP_LE", SeccompOperator::kLessEqual},
    {"SCMP_CMP_EQ", SeccompOperator::kEqual},
    {"SCMP_CMP_GE", SeccompOperator::kGreaterEqual},
    {"SCMP_CMP_GT", SeccompOperator::kGreater},
    {"SCMP_CMP_MASKED_EQ", SeccompOperator::kMaskedEqual},
};

// A token is the kernel's AUDIT_ARCH_*, except for x32: the kernel uses x86-64's token for it,
// libseccomp a token of its own. The rows with AUDIT_ARCH_* are newer than libseccomp 2.5.
constexpr Named<std::uint32_t> kArchitectures[] = {
    {"SCMP_ARCH_X86", SCMP_ARCH_X86},
    {"SCMP_ARCH_X86_64", SCMP_ARCH_X86_64},
    {"SCMP_ARCH_X32", SCMP_ARCH_X32},
    {"SCMP_ARCH_ARM", SCMP_ARCH_ARM},
    {"SCMP_ARCH_AARCH64", SCMP_ARCH_AARCH64},
    {"SCMP_ARCH_LOONGARCH64", AUDIT_ARCH_LOONGARCH64},
    {"SCMP_ARCH_M68K", AUDIT_ARCH_M68K},
    {"SCMP_ARCH_MIPS", SCMP_ARCH_MIPS},
    {"SCMP_ARCH_MIPS64", SCMP_ARCH_MIPS64},
    {"SCMP_ARCH_MIPS64N32", SCMP_ARCH_MIPS64N32},
    {"SCMP_ARCH_MIPSEL", SCMP_ARCH_MIPSEL},
    {"SCMP_ARCH_MIPSEL64", SCMP_ARCH_MIPSEL64},
    {"SCMP_ARCH_MIPSEL64N32", SCMP_ARCH_MIPSEL64N32},
    {"SCMP_ARCH_PPC", SCMP_ARCH_PPC},
    {"SCMP_ARCH_PPC64", SCMP_ARCH_PPC64},
    {"SCMP_ARCH_PPC64LE", SCMP_ARCH_PPC64LE},
    {"SCMP_ARCH_S390", SCMP_ARCH_S390},
    {"SCMP_ARCH_S390X", SCMP_ARCH_S390X},
    {"SCMP_ARCH_SH", AUDIT_ARCH_SHEL},
    {"SCMP_ARCH_SHEB", AUDIT_ARCH_SH},
    {"SCMP_ARCH_PARISC", SCMP_ARCH_PARISC},
    {"SCMP_ARCH_PARISC64", SCMP_ARCH_PARISC64},
    {"SCMP_ARCH_RISCV64", SCMP_ARCH_RISCV64},
};

constexpr Named<std::uint32_t> kFlags[] = {
    {"SECCOMP_FILTER_FLAG_TSYNC", SECCOMP_FILTER_FLAG_TSYNC},
    {"SECCOMP_FILTER_FLAG_LOG", SECCOMP_FILTER_FLAG_LOG},
    {"SECCOMP_FILTER_FLAG_SPEC_ALLOW", SECCOMP_FILTER_FLAG_SPEC_ALLOW},
    {"SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV},
};

}  // namespace

std::optional<SeccompAction> seccomp_action(std::string_view name) {
  return value_of(kActions, name);
}
std::string_view seccomp_action_name(SeccompAction action) { return name_of(kActions, action); }
std::string_view seccomp_operator_name(SeccompOperator compares) {
  return name_of(kOperators, compares);
}
std::string_view seccomp_architecture_name(std::uint32_t token) {
  return name_of(kArchitectures, token);
}
std::optional<SeccompOperator> seccomp_operator(std::string_view name) {
  return value_of(kOperators, name);
}
std::optional<std::uint32_t> seccomp_architecture(std::string_view name) {
  return value_of(kArchitectures, name);
}
std::optional<std::uint32_t> seccomp_flag(std::string_view name) { return value_of(kFlags, name); }
std::vector<std::string_view> seccomp_action_names() { return names_of(kActions); }
std::vector<std::string_view> seccomp_operator_names() { return names_of(kOperators); }
std::vector<std::string_view> seccomp_architecture_names() { return names_of(kArchitectures); }
std::vector<std::string_view> seccomp_flag_names() { return names_of(kFlags); }

std::optional<std::uint32_t> greatest_errno(SeccompAction action) {
  if (action == SeccompAction::kErrno) return 4094;   // libseccomp demands less than MAX_ERRNO
  if (action == SeccompAction::kTrace) return 65535;  // SECCOMP_RET_DATA
  return {};
}

namespace {

/// A 32-bit word of the kernel's seccomp_data. Nothing for the arguments and the instruction
/// pointer, which are unknown.
std::optional<std::uint32_t> known_word(std::uint32_t offset, int call) {
  if (offset == offsetof(seccomp_data, nr)) return static_cast<std::uint32_t>(call);
  if (offset == offsetof(seccomp_data, arch)) return ::seccomp_arch_native();
  return std::nullopt;
}

/// Whether a jump on `constant` is taken. Nothing for an instruction that is not such a jump.
std::optional<bool> compare(std::uint16_t code, std::uint32_t value, std::uint32_t constant) {
  switch (code) {
    case BPF_JMP | BPF_JEQ | BPF_K:
      return value == constant;
    case BPF_JMP | BPF_JGT | BPF_K:
      return value > constant;
    case BPF_JMP | BPF_JGE | BPF_K:
      return value >= constant;
    case BPF_JMP | BPF_JSET | BPF_K:
      return (value & constant) != 0;
    default:
      return std::nullopt;
  }
}

/// The return value of the filter for `call`. Understands the instructions that libseccomp and
/// assemble() generate. Nothing if the filter compares an argument, or at another instruction.
std::optional<std::uint32_t> answer_to(const SeccompFilter& filter, int call) {
  std::optional<std::uint32_t> accumulator;
  for (std::size_t next = 0; next < filter.program.size();) {
    const sock_filter& instruction = filter.program[next++];
    switch (instruction.code) {
      case BPF_RET | BPF_K:
        return instruction.k;
      case BPF_JMP | BPF_JA:
        next += instruction.k;
        break;
      case BPF_LD | BPF_W | BPF_ABS:
        accumulator = known_word(instruction.k, call);
        break;
      default: {
        if (!accumulator) return std::nullopt;
        const auto taken = compare(instruction.code, *accumulator, instruction.k);
        if (!taken) return std::nullopt;
        next += *taken ? instruction.jt : instruction.jf;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

Verdict judge(const SeccompFilter& filter, int call) {
  const auto answer = answer_to(filter, call);
  if (!answer) return Verdict::kUnknown;
  switch (*answer & SECCOMP_RET_ACTION_FULL) {
    case SECCOMP_RET_KILL_PROCESS:
    case SECCOMP_RET_KILL_THREAD:
    case SECCOMP_RET_TRAP:
      return Verdict::kEndsCaller;
    case SECCOMP_RET_ERRNO:
      return Verdict::kRefusesCall;
    default:
      return Verdict::kUnknown;
  }
}

bool certainly_allows(const SeccompFilter& filter, int call) {
  const auto answer = answer_to(filter, call);
  if (!answer) return false;
  const std::uint32_t action = *answer & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

}  // namespace ocirun::linux
