#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "linux/seccomp/assemble.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {
namespace {

using Context = std::unique_ptr<void, decltype(&::seccomp_release)>;

// The architectures that one kernel can run. A call with a token of another family never reaches
// the filter.
constexpr std::array kFamilies{
    std::array<std::uint32_t, 3>{SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_X32},
    std::array<std::uint32_t, 3>{SCMP_ARCH_AARCH64, SCMP_ARCH_ARM, SCMP_ARCH_ARM},
    std::array<std::uint32_t, 3>{SCMP_ARCH_MIPS64, SCMP_ARCH_MIPS, SCMP_ARCH_MIPS64N32},
    std::array<std::uint32_t, 3>{SCMP_ARCH_MIPSEL64, SCMP_ARCH_MIPSEL, SCMP_ARCH_MIPSEL64N32},
    std::array<std::uint32_t, 3>{SCMP_ARCH_PPC64, SCMP_ARCH_PPC, SCMP_ARCH_PPC},
    std::array<std::uint32_t, 3>{SCMP_ARCH_S390X, SCMP_ARCH_S390, SCMP_ARCH_S390},
    std::array<std::uint32_t, 3>{SCMP_ARCH_PARISC64, SCMP_ARCH_PARISC, SCMP_ARCH_PARISC},
};

Result<std::uint32_t> action_value(SeccompAction action, std::optional<std::uint32_t> errno_ret,
                                   std::string_view field) {
  const auto greatest = greatest_errno(action);
  if (errno_ret && !greatest)
    return refuse("{}: only SCMP_ACT_ERRNO and SCMP_ACT_TRACE take an errno", field);
  const std::uint32_t number = errno_ret.value_or(EPERM);
  if (greatest && number > *greatest)
    return refuse("{}: {} is not from 0 to {}", field, number, *greatest);
  switch (action) {
    case SeccompAction::kKillThread:
      return SCMP_ACT_KILL_THREAD;
    case SeccompAction::kKillProcess:
      return SCMP_ACT_KILL_PROCESS;
    case SeccompAction::kTrap:
      return SCMP_ACT_TRAP;
    case SeccompAction::kErrno:
      return SCMP_ACT_ERRNO(number);
    case SeccompAction::kTrace:
      return SCMP_ACT_TRACE(number);
    case SeccompAction::kAllow:
      return SCMP_ACT_ALLOW;
    case SeccompAction::kLog:
      return SCMP_ACT_LOG;
    case SeccompAction::kNotify:
      return SCMP_ACT_NOTIFY;
  }
  return refuse("{}: unknown action", field);
}

scmp_compare comparison(SeccompOperator op) {
  switch (op) {
    case SeccompOperator::kNotEqual:
      return SCMP_CMP_NE;
    case SeccompOperator::kLess:
      return SCMP_CMP_LT;
    case SeccompOperator::kLessEqual:
      return SCMP_CMP_LE;
    case SeccompOperator::kEqual:
      return SCMP_CMP_EQ;
    case SeccompOperator::kGreaterEqual:
      return SCMP_CMP_GE;
    case SeccompOperator::kGreater:
      return SCMP_CMP_GT;
    case SeccompOperator::kMaskedEqual:
      return SCMP_CMP_MASKED_EQ;
  }
  return SCMP_CMP_EQ;
}

// For SCMP_CMP_MASKED_EQ, `value` is the mask, and `valueTwo` the expected value after masking.
scmp_arg_cmp condition(const SeccompArgument& argument) {
  return {.arg = argument.index,
          .op = comparison(argument.op),
          .datum_a = argument.value,
          .datum_b = argument.op == SeccompOperator::kMaskedEqual ? argument.value_two : 0};
}

// All conditions of a rule must hold. libseccomp takes only one condition for each argument of a
// call, so a rule with two for the same argument becomes one rule for each condition, any of which
// may match: the engines' default profile relies on that for clone and personality (S-9).
using Conditions = std::vector<scmp_arg_cmp>;
std::vector<Conditions> alternatives(const std::vector<SeccompArgument>& arguments) {
  Conditions all;
  unsigned seen = 0;
  bool repeated = false;
  for (const SeccompArgument& argument : arguments) {
    repeated = repeated || ((seen >> argument.index) & 1U) != 0;
    seen |= 1U << argument.index;
    all.push_back(condition(argument));
  }
  if (!repeated) return {all};
  std::vector<Conditions> each;
  for (const scmp_arg_cmp& one : all) each.push_back({one});
  return each;
}

Result<std::uint32_t> filter_flags(const SeccompProfile& profile) {
  if (!profile.flags) return default_seccomp_flags();
  const auto supported = supported_seccomp_flags();
  for (const std::string_view name : seccomp_flag_names())
    if ((*profile.flags & seccomp_flag(name).value_or(0)) &&
        std::ranges::find(supported, name) == supported.end())
      return refuse("/linux/seccomp/flags: this kernel does not take {}", name);
  if ((*profile.flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) && !profile.uses_notify())
    return refuse(
        "/linux/seccomp/flags: SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV needs a rule with"
        " SCMP_ACT_NOTIFY");
  return *profile.flags;
}

std::vector<std::uint32_t> filter_architectures(const SeccompProfile& profile) {
  const std::uint32_t native = ::seccomp_arch_native();
  std::vector<std::uint32_t> architectures{native};
  const auto family = std::ranges::find_if(kFamilies, [&](const auto& members) {
    return std::ranges::find(members, native) != members.end();
  });
  if (family == kFamilies.end()) return architectures;
  for (const std::uint32_t wanted : profile.architectures)
    if (std::ranges::find(*family, wanted) != family->end() &&
        std::ranges::find(architectures, wanted) == architectures.end())
      architectures.push_back(wanted);
  return architectures;
}

std::string syscall_name(int number) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      ::seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number), std::free);
  return name ? name.get() : fmt::format("system call {}", number);
}

// A rule in libseccomp's terms: its action, its alternatives, its system calls.
struct PreparedRule {
  std::uint32_t action = 0;
  std::vector<Conditions> alternatives;
  std::vector<int> syscalls;  // native numbers, or libseccomp's negative ones
  std::size_t index = 0;      // in /linux/seccomp/syscalls
};

Result<PreparedRule> prepare_rule(const SeccompRule& rule, std::size_t index,
                                  std::vector<std::string>& unknown) {
  const std::string place = fmt::format("/linux/seccomp/syscalls/{}", index);
  PreparedRule prepared;
  prepared.index = index;
  TRY_ASSIGN(prepared.action, action_value(rule.action, rule.errno_ret, place + "/errnoRet"));
  for (const SeccompArgument& argument : rule.arguments)
    if (argument.index > 5)
      return refuse("{}/args: index {} is not from 0 to 5", place, argument.index);
  prepared.alternatives = alternatives(rule.arguments);
  for (const std::string& name : rule.names) {
    if (rule.action == SeccompAction::kNotify && name == "write")
      return refuse(
          "{}: SCMP_ACT_NOTIFY cannot be used for write, with which the runtime reports"
          " while nobody listens yet",
          place);
    const int number = ::seccomp_syscall_resolve_name(name.c_str());
    if (number != __NR_SCMP_ERROR)
      prepared.syscalls.push_back(number);
    else
      unknown.push_back(name);
  }
  return prepared;
}

Result<std::vector<PreparedRule>> prepare_rules(const SeccompProfile& profile,
                                                std::uint32_t default_action,
                                                std::vector<std::string>& warnings) {
  std::vector<PreparedRule> rules;
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < profile.rules.size(); ++i) {
    TRY_ASSIGN(PreparedRule rule, prepare_rule(profile.rules[i], i, unknown));
    // A rule with the default action changes nothing, and libseccomp treats it as an error (S-10).
    if (rule.action != default_action) rules.push_back(std::move(rule));
  }
  if (!unknown.empty())
    warnings.push_back(
        fmt::format("/linux/seccomp/syscalls: libseccomp {} does not know {}; no rule"
                    " was made for that",
                    libseccomp_version(), fmt::join(unknown, ", ")));
  return rules;
}

Result<void> add_rule(const Context& context, const PreparedRule& rule) {
  for (const int syscall : rule.syscalls)
    for (const Conditions& conditions : rule.alternatives) {
      const int error =
          ::seccomp_rule_add_array(context.get(), rule.action, syscall,
                                   static_cast<unsigned>(conditions.size()), conditions.data());
      // Of two rules without args, libseccomp silently keeps the first; engines rely on that.
      if (error == -EEXIST)
        return refuse(
            "/linux/seccomp/syscalls/{}: contradicts an earlier rule for {} with the same"
            " args; remove one of them",
            rule.index, syscall_name(syscall));
      if (error < 0)
        return fail(-error, "/linux/seccomp/syscalls/{}: add the rule for {}", rule.index,
                    syscall_name(syscall));
    }
  return {};
}

// Through a file, because libseccomp 2.5 can write a filter only to a descriptor.
Result<std::vector<sock_filter>> export_program(const Context& context) {
  const UniqueFd file(::memfd_create("seccomp", MFD_CLOEXEC));
  if (!file) return fail(errno, "make a file in memory for the seccomp filter");
  if (const int error = ::seccomp_export_bpf(context.get(), file.get()); error < 0)
    return fail(-error, "generate the seccomp filter");
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail(errno, "measure the seccomp filter");
  std::vector<sock_filter> program(static_cast<std::size_t>(info.st_size) / sizeof(sock_filter));
  const std::size_t bytes = program.size() * sizeof(sock_filter);
  if (::pread(file.get(), program.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    return fail(EIO, "read the seccomp filter");
  return program;
}

// The filter for one architecture. A context of its own is faster than a part of a common one.
Result<std::vector<sock_filter>> compile_for(std::uint32_t architecture,
                                             std::uint32_t default_action,
                                             const std::vector<PreparedRule>& rules) {
  const Context context(::seccomp_init(default_action), ::seccomp_release);
  if (!context) return fail(ENOMEM, "/linux/seccomp: libseccomp cannot start a filter");
  if (const std::uint32_t native = ::seccomp_arch_native(); architecture != native) {
    int error = ::seccomp_arch_add(context.get(), architecture);
    if (error == 0) error = ::seccomp_arch_remove(context.get(), native);
    if (error < 0) return fail(-error, "/linux/seccomp/architectures: choose {:#x}", architecture);
  }
  // Dispatches system calls by a binary tree instead of a list; libseccomp before 2.5 cannot.
  static_cast<void>(::seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  for (const PreparedRule& rule : rules) TRY(add_rule(context, rule));
  return export_program(context);
}

}  // namespace

bool SeccompProfile::uses_notify() const {
  return default_action == SeccompAction::kNotify ||
         std::ranges::any_of(
             rules, [](const SeccompRule& rule) { return rule.action == SeccompAction::kNotify; });
}

bool SeccompProfile::spares_caller() const {
  const auto spares = [](SeccompAction action) {
    return action == SeccompAction::kAllow || action == SeccompAction::kLog ||
           action == SeccompAction::kErrno;
  };
  return spares(default_action) &&
         std::ranges::all_of(rules, [&](const SeccompRule& rule) { return spares(rule.action); });
}

Result<SeccompFilter> compile_seccomp(const SeccompProfile& profile,
                                      std::vector<std::string>& warnings) {
  if (profile.default_action == SeccompAction::kNotify)
    return refuse(
        "/linux/seccomp/defaultAction: SCMP_ACT_NOTIFY would stop the runtime itself"
        " before anybody listens; use it in rules");
  TRY_ASSIGN(const std::uint32_t default_action,
             action_value(profile.default_action, profile.default_errno_ret,
                          "/linux/seccomp/defaultErrnoRet"));
  TRY_ASSIGN(const std::vector<PreparedRule> rules,
             prepare_rules(profile, default_action, warnings));
  TRY_ASSIGN(const std::uint32_t flags, filter_flags(profile));
  const std::vector<std::uint32_t> architectures = filter_architectures(profile);
  std::vector<ArchitectureProgram> programs;
  for (const std::uint32_t architecture : architectures) {
    TRY_ASSIGN(auto program, compile_for(architecture, default_action, rules));
    programs.push_back({architecture, std::move(program)});
  }

  SeccompFilter filter;
  filter.program = assemble_seccomp(programs, newer_syscalls(profile, architectures));
  if (filter.program.size() > BPF_MAXINSNS)
    return refuse(
        "/linux/seccomp: the filter has {} instructions, but the kernel takes at most {};"
        " name fewer architectures or argument conditions",
        filter.program.size(), BPF_MAXINSNS);
  filter.notify = profile.uses_notify();
  filter.flags = flags;
  return filter;
}

bool is_system_call(const std::string& name) {
  return ::seccomp_syscall_resolve_name(name.c_str()) != __NR_SCMP_ERROR;
}

std::string libseccomp_version() {
  const scmp_version* version = ::seccomp_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->micro);
}

}  // namespace ocirun::linux
