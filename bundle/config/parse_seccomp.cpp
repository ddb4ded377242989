// `linux.seccomp` (docs/requirements.md: S-1 … S-9).

#include <algorithm>

#include "bundle/config/sections.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

using linux::SeccompAction;
using linux::SeccompArgument;
using linux::SeccompProfile;
using linux::SeccompRule;

constexpr auto action = word("action", linux::seccomp_action, linux::seccomp_action_names);

constexpr auto kArgument = fields<SeccompArgument>(  // S-9
    required("index", &SeccompArgument::index, range(0, 5)),
    required("value", &SeccompArgument::value, whole_number),
    field("valueTwo", &SeccompArgument::value_two, whole_number),
    required("op", &SeccompArgument::op,
             word("operator", linux::seccomp_operator, linux::seccomp_operator_names)));

/// S-2: only SCMP_ACT_ERRNO and SCMP_ACT_TRACE take a number.
void check_errno(Value at, std::string_view member, SeccompAction with,
                 const std::optional<std::uint32_t>& value) {
  if (!value) return;
  const auto most = linux::greatest_errno(with);
  if (!most) return at.problem_at(member, "is for SCMP_ACT_ERRNO and SCMP_ACT_TRACE only");
  if (*value > *most) at.problem_at(member, "must be from 0 to {}, not {}", *most, *value);
}

/// Reads the name of a system call. An unknown name is at most a warning, because a profile may
/// name system calls that are newer than libseccomp.
bool system_call(Value at, std::string& out) {
  if (!nonempty_text(at, out)) return false;
  if (at.report().tells_unknown_names() && !linux::is_system_call(out))
    at.warning("unknown system call {}: ignored", found(at));
  return true;
}

constexpr auto kRule = checked(
    fields<SeccompRule>(required("names", &SeccompRule::names, list_of(system_call)),  // S-8
                        required("action", &SeccompRule::action, action),
                        field("errnoRet", &SeccompRule::errno_ret, whole_number),
                        field("args", &SeccompRule::arguments, list_of(kArgument))),
    [](Value at, const SeccompRule& rule) {
      if (rule.names.empty()) at.problem_at("names", "must hold at least one system call");
      check_errno(at, "errnoRet", rule.action, rule.errno_ret);
      // S-5: ocirun refuses this rule, as runc does. The init of runc calls write(2) after loading
      // the filter and before the agent has the listener: no agent would answer.
      if (rule.action == SeccompAction::kNotify &&
          std::ranges::find(rule.names, "write") != rule.names.end())
        at.problem_at("action", "SCMP_ACT_NOTIFY on \"write\" would block the container's start");
    });

void check_profile(Value at, const SeccompProfile& profile) {
  check_errno(at, "defaultErrnoRet", profile.default_action, profile.default_errno_ret);
  if (profile.default_action == SeccompAction::kNotify)  // S-5
    at.problem_at("defaultAction",
                  "SCMP_ACT_NOTIFY cannot be the default: it would block the"
                  " container's start");
  else if (profile.uses_notify() && profile.listener_path.empty())
    at.problem_at("listenerPath", "is missing: SCMP_ACT_NOTIFY needs a listener");
  else if (!profile.uses_notify() && !profile.listener_path.empty())
    at.warning("listenerPath has no effect: no rule has the action SCMP_ACT_NOTIFY");
  if (!profile.listener_metadata.empty() && profile.listener_path.empty())  // S-6
    at.problem_at("listenerMetadata", "needs listenerPath");
}

constexpr auto kSeccomp = checked(
    fields<SeccompProfile>(
        required("defaultAction", &SeccompProfile::default_action, action),  // S-1
        field("defaultErrnoRet", &SeccompProfile::default_errno_ret, whole_number),
        field("architectures", &SeccompProfile::architectures,
              list_of(word("architecture", linux::seccomp_architecture,
                           linux::seccomp_architecture_names))),  // S-3
        field("flags", &SeccompProfile::flags,
              flags_of(word("flag", linux::seccomp_flag, linux::seccomp_flag_names))),  // S-4
        part("listenerPath",
             [](Value at, SeccompProfile& out) {  // S-5
               std::string path;
               if (!text(at, path)) return false;
               out.listener_path = HostPath(std::move(path));
               return true;
             }),
        field("listenerMetadata", &SeccompProfile::listener_metadata, text),  // S-6
        field("syscalls", &SeccompProfile::rules, list_of(kRule))),
    check_profile);

}  // namespace

bool read_seccomp(Value at, SeccompProfile& out) { return kSeccomp(at, out); }

}  // namespace ocirun::bundle
