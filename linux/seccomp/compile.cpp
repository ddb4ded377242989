#include "linux/seccomp/compile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include "linux/seccomp/assemble.hpp"
#include "linux/seccomp/decision.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {
namespace {

Result<std::uint32_t> answer_of(SeccompAction action, std::optional<std::uint32_t> errno_ret,
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

// All conditions of a rule must hold. But other runtimes use libseccomp, which takes only one
// condition for each argument of a call. They make a rule with two conditions on the same argument
// into several rules, one for each condition, of which any may match. The default profile of the
// engines relies on this for clone and personality (S-9), so ocirun does the same.
std::vector<std::vector<SeccompArgument>> alternatives(
    const std::vector<SeccompArgument>& arguments) {
  unsigned seen = 0;
  bool repeated = false;
  for (const SeccompArgument& argument : arguments) {
    repeated = repeated || ((seen >> argument.index) & 1U) != 0;
    seen |= 1U << argument.index;
  }
  if (!repeated) return {arguments};
  std::vector<std::vector<SeccompArgument>> each;
  for (const SeccompArgument& one : arguments) each.push_back({one});
  return each;
}

Result<PreparedRule> prepare_rule(const SeccompRule& rule, std::size_t index,
                                  std::vector<std::string>& unknown) {
  const std::string place = fmt::format("/linux/seccomp/syscalls/{}", index);
  PreparedRule prepared;
  prepared.index = index;
  OCIRUN_TRY_ASSIGN(prepared.answer, answer_of(rule.action, rule.errno_ret, place + "/errnoRet"));
  for (const SeccompArgument& argument : rule.arguments)
    if (argument.index > 5)
      return refuse("{}/args: index {} is not from 0 to 5", place, argument.index);
  prepared.alternatives = alternatives(rule.arguments);
  if (prepared.alternatives.size() > BPF_MAXINSNS)
    return refuse("{}/args: {} conditions are too many: the kernel takes at most {} instructions",
                  place, prepared.alternatives.size(), BPF_MAXINSNS);
  for (const std::string& name : rule.names) {
    if (rule.action == SeccompAction::kNotify && name == "write")
      return refuse(
          "{}: SCMP_ACT_NOTIFY cannot be used for write, with which the runtime reports"
          " while nobody listens yet",
          place);
    if (is_system_call(name))
      prepared.names.push_back(&name);
    else
      unknown.push_back(name);
  }
  // A name that is given twice means the same as once. Engines give sorted names, and is_sorted()
  // takes less time than sort().
  const auto text = [](const std::string* name) -> const std::string& { return *name; };
  auto& names = prepared.names;
  if (!std::ranges::is_sorted(names, {}, text)) std::ranges::sort(names, {}, text);
  names.erase(std::ranges::unique(names, {}, text).begin(), names.end());
  return prepared;
}

}  // namespace

Result<PreparedProfile> prepare(const SeccompProfile& profile, std::vector<std::string>& warnings) {
  if (profile.default_action == SeccompAction::kNotify)
    return refuse(
        "/linux/seccomp/defaultAction: SCMP_ACT_NOTIFY would stop the runtime itself"
        " before anybody listens; use it in rules");
  PreparedProfile prepared;
  OCIRUN_TRY_ASSIGN(prepared.default_answer,
                    answer_of(profile.default_action, profile.default_errno_ret,
                              "/linux/seccomp/defaultErrnoRet"));
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < profile.rules.size(); ++i) {
    OCIRUN_TRY_ASSIGN(PreparedRule rule, prepare_rule(profile.rules[i], i, unknown));
    prepared.rules.push_back(std::move(rule));
  }
  if (!unknown.empty())
    warnings.push_back(
        fmt::format("/linux/seccomp/syscalls: libseccomp {} does not know {}; no rule"
                    " was made for that",
                    libseccomp_version(), fmt::join(unknown, ", ")));
  return prepared;
}

bool is_system_call(const std::string& name) {
  return ::seccomp_syscall_resolve_name(name.c_str()) != __NR_SCMP_ERROR;
}

namespace {

// Each row has the architectures that one kernel can run. Such a kernel never gives a filter a call
// of an architecture of another row.
constexpr std::array kFamilies{
    std::array<std::uint32_t, 3>{SCMP_ARCH_X86_64, SCMP_ARCH_X86, SCMP_ARCH_X32},
    std::array<std::uint32_t, 3>{SCMP_ARCH_AARCH64, SCMP_ARCH_ARM, SCMP_ARCH_ARM},
    std::array<std::uint32_t, 3>{SCMP_ARCH_MIPS64, SCMP_ARCH_MIPS, SCMP_ARCH_MIPS64N32},
    std::array<std::uint32_t, 3>{SCMP_ARCH_MIPSEL64, SCMP_ARCH_MIPSEL, SCMP_ARCH_MIPSEL64N32},
    std::array<std::uint32_t, 3>{SCMP_ARCH_PPC64, SCMP_ARCH_PPC, SCMP_ARCH_PPC},
    std::array<std::uint32_t, 3>{SCMP_ARCH_S390X, SCMP_ARCH_S390, SCMP_ARCH_S390},
    std::array<std::uint32_t, 3>{SCMP_ARCH_PARISC64, SCMP_ARCH_PARISC, SCMP_ARCH_PARISC},
};

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
  std::vector<std::uint32_t> architectures = runnable_architectures();
  std::erase_if(architectures, [&](std::uint32_t one) {
    return one != ::seccomp_arch_native() &&
           std::ranges::find(profile.architectures, one) == profile.architectures.end();
  });
  return architectures;
}

Result<ArchitectureFilter> filter_for(std::uint32_t architecture, const SeccompProfile& profile,
                                      const PreparedProfile& prepared,
                                      std::vector<std::string>& warnings) {
  OCIRUN_TRY_ASSIGN(std::vector<Interval> intervals, decide(architecture, prepared, warnings));
  // At most two intervals, and the others are sorted already.
  for (const Interval& range : newer_syscalls(profile, architecture, intervals)) {
    const auto behind = std::ranges::upper_bound(intervals, range.first, {}, &Interval::first);
    intervals.insert(behind, range);
  }
  return ArchitectureFilter{.architecture = architecture,
                            .intervals = std::move(intervals),
                            .unnamed = prepared.default_answer};
}

}  // namespace

Result<Program> compile_for(std::span<const std::uint32_t> architectures,
                            const SeccompProfile& profile, const PreparedProfile& prepared,
                            std::vector<std::string>& warnings) {
  std::vector<ArchitectureFilter> filters;
  for (const std::uint32_t architecture : architectures) {
    OCIRUN_TRY_ASSIGN(auto filter, filter_for(architecture, profile, prepared, warnings));
    filters.push_back(std::move(filter));
  }
  return assemble(filters);
}

std::vector<std::uint32_t> runnable_architectures() {
  std::vector<std::uint32_t> architectures{::seccomp_arch_native()};
  for (const auto& family : kFamilies)
    if (std::ranges::find(family, architectures.front()) != family.end())
      for (const std::uint32_t member : family)
        if (std::ranges::find(architectures, member) == architectures.end())
          architectures.push_back(member);
  return architectures;
}

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
  OCIRUN_TRY_ASSIGN(const PreparedProfile prepared, prepare(profile, warnings));
  SeccompFilter filter;
  OCIRUN_TRY_ASSIGN(filter.flags, filter_flags(profile));
  OCIRUN_TRY_ASSIGN(filter.program,
                    compile_for(filter_architectures(profile), profile, prepared, warnings));
  if (filter.program.size() > BPF_MAXINSNS)
    return refuse(
        "/linux/seccomp: the filter has {} instructions, but the kernel takes at most {};"
        " name fewer architectures or argument conditions",
        filter.program.size(), BPF_MAXINSNS);
  filter.notify = profile.uses_notify();
  return filter;
}

std::string libseccomp_version() {
  const scmp_version* version = ::seccomp_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->micro);
}

}  // namespace ocirun::linux
