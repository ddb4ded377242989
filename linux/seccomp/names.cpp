#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include "linux/base/name_table.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {
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

}  // namespace ocirun::linux
