#include "linux/seccomp/prepare.hpp"

#include <fmt/format.h>
#include <linux/filter.h>
#include <seccomp.h>

#include <algorithm>
#include <cerrno>

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

// All conditions of a rule must hold. libseccomp takes only one condition for each argument of a
// call, so a rule with two for the same argument becomes one rule for each condition, any of which
// may match: the engines' default profile relies on that for clone and personality (S-9).
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
  TRY_ASSIGN(prepared.answer, answer_of(rule.action, rule.errno_ret, place + "/errnoRet"));
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
    (is_system_call(name) ? prepared.names : unknown).push_back(name);
  }
  // A name that is given twice means the same as once.
  std::ranges::sort(prepared.names);
  prepared.names.erase(std::ranges::unique(prepared.names).begin(), prepared.names.end());
  return prepared;
}

}  // namespace

Result<PreparedProfile> prepare(const SeccompProfile& profile, std::vector<std::string>& warnings) {
  if (profile.default_action == SeccompAction::kNotify)
    return refuse(
        "/linux/seccomp/defaultAction: SCMP_ACT_NOTIFY would stop the runtime itself"
        " before anybody listens; use it in rules");
  PreparedProfile prepared;
  TRY_ASSIGN(prepared.default_answer, answer_of(profile.default_action, profile.default_errno_ret,
                                                "/linux/seccomp/defaultErrnoRet"));
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < profile.rules.size(); ++i) {
    TRY_ASSIGN(PreparedRule rule, prepare_rule(profile.rules[i], i, unknown));
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

}  // namespace ocirun::linux
