#include "bundle/documents/learned_profile.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::bundle {
namespace {

using linux::SeccompAction;
using linux::SeccompProfile;
using linux::SeccompRule;

/// Calls that every program needs, and that a run need not show: the kernel makes some of them, and
/// the learning filter does not hand out write.
constexpr const char* kAlways[] = {"execve",          "exit",         "exit_group",
                                   "restart_syscall", "rt_sigreturn", "write"};
constexpr std::size_t kMostProfileBytes = std::size_t{1} << 20;

void write_rule(JsonWriter& json, const SeccompRule& rule) {
  json.begin_object().member("names", rule.names);
  json.member("action", linux::seccomp_action_name(rule.action));
  if (rule.errno_ret) json.member("errnoRet", *rule.errno_ret);
  if (!rule.arguments.empty()) {
    json.key("args").begin_array();
    for (const linux::SeccompArgument& argument : rule.arguments)
      json.begin_object()
          .member("index", argument.index)
          .member("value", argument.value)
          .member("valueTwo", argument.value_two)
          .member("op", linux::seccomp_operator_name(argument.op))
          .end_object();
    json.end_array();
  }
  json.end_object();
}

bool lets_through(SeccompAction action) {
  return action == SeccompAction::kAllow || action == SeccompAction::kLog;
}

/// The rules of `own` for the names, without those that no run has used, and a rule for the names
/// that `own` has no rule for.
std::vector<SeccompRule> rules_for(const std::set<std::string>& names, const SeccompProfile& own) {
  std::vector<SeccompRule> rules;
  std::set<std::string> without_rule = names;
  for (SeccompRule rule : own.rules) {
    if (lets_through(rule.action)) {
      // The default lets calls with other arguments through as well.
      if (lets_through(own.default_action) && !rule.arguments.empty()) continue;
      std::erase_if(rule.names, [&](const std::string& name) { return !names.contains(name); });
    }
    if (rule.names.empty()) continue;
    if (lets_through(rule.action) || rule.arguments.empty())
      for (const std::string& name : rule.names) without_rule.erase(name);
    rules.push_back(std::move(rule));
  }
  if (!without_rule.empty())
    rules.push_back({.names = {without_rule.begin(), without_rule.end()},
                     .action = SeccompAction::kAllow,
                     .errno_ret = {},
                     .arguments = {}});
  return rules;
}

std::string profile_text(const linux::LearnedCalls& calls, const SeccompProfile& own) {
  JsonWriter json(JsonWriter::Layout::kIndented);
  json.begin_object().member("defaultAction", linux::seccomp_action_name(SeccompAction::kErrno));
  if (own.default_errno_ret) json.member("defaultErrnoRet", *own.default_errno_ret);
  json.member("architectures",
              std::vector<std::string>(calls.architectures.begin(), calls.architectures.end()));
  if (own.flags) {
    json.key("flags").begin_array();
    for (const std::string_view name : linux::seccomp_flag_names())
      if ((*own.flags & linux::seccomp_flag(name).value_or(0)) != 0) json.value(name);
    json.end_array();
  }
  json.key("syscalls").begin_array();
  for (const SeccompRule& rule : rules_for(calls.names, own)) write_rule(json, rule);
  json.end_array().end_object();
  return std::move(json).take() + "\n";
}

struct Place {
  UniqueFd directory;
  std::string name;
};

Result<Place> place_of(const HostPath& file) {
  OCIRUN_TRY_ASSIGN(UniqueFd directory, linux::open_parent(file));
  return Place{.directory = std::move(directory),
               .name = file.string().substr(file.string().rfind('/') + 1)};
}

bool is_plain(const SeccompRule& rule) {
  return rule.action == SeccompAction::kAllow && rule.arguments.empty();
}

/// Whether a rule of `own` says the same of the call.
bool has_rule(const SeccompProfile& own, const SeccompRule& rule, const std::string& name) {
  return std::ranges::any_of(own.rules, [&](const SeccompRule& one) {
    return one.action == rule.action && one.errno_ret == rule.errno_ret &&
           one.arguments == rule.arguments && std::ranges::find(one.names, name) != one.names.end();
  });
}

/// The calls that the file lets through; none if there is no file.
Result<linux::LearnedCalls> read_calls(const Place& place, const SeccompProfile& own) {
  linux::LearnedCalls calls;
  const auto text =
      linux::read_file(place.directory, place.name, kMostProfileBytes, O_CLOEXEC | O_NOFOLLOW);
  if (is_missing(text)) return calls;
  if (!text) return std::unexpected(text.error());
  OCIRUN_TRY_ASSIGN(const SeccompProfile profile, parse_seccomp(*text));
  for (std::size_t index = 0; index < profile.rules.size(); ++index) {
    const SeccompRule& rule = profile.rules[index];
    for (const std::string& name : rule.names) {
      if (!is_plain(rule) && !has_rule(own, rule, name))
        return refuse(
            "/syscalls/{}: says something of {} that /linux/seccomp of config.json does not say, "
            "and "
            "that would be lost: learn into another file",
            index, name);
      if (lets_through(rule.action)) calls.names.insert(name);
    }
  }
  for (const std::uint32_t token : profile.architectures)
    calls.architectures.emplace(linux::seccomp_architecture_name(token));
  return calls;
}

Result<void> check_learnable(const SeccompProfile& own) {
  if (!lets_through(own.default_action)) return {};
  for (std::size_t index = 0; index < own.rules.size(); ++index)
    if (!lets_through(own.rules[index].action) && !own.rules[index].arguments.empty())
      return refuse(
          "/linux/seccomp/syscalls/{}: refuses {} for its arguments, while /linux/seccomp/"
          "defaultAction allows it: a profile that refuses by default cannot say so; leave the "
          "rule "
          "out while learning, or refuse by default and allow by arguments",
          index, own.rules[index].names.empty() ? "a call" : own.rules[index].names.front());
  return {};
}

/// Somebody else may hold the lock for ever: the wait is short, and nothing fails for it.
void await_other_runs(Fd directory) {
  linux::Patience patience(std::chrono::seconds(2));
  while (::flock(directory.value, LOCK_EX | LOCK_NB) != 0 && patience.wait()) continue;
}

}  // namespace

Result<LearnedProfile> LearnedProfile::open(const HostPath& file,
                                            std::optional<SeccompProfile> own) {
  if (own) OCIRUN_TRY(check_learnable(*own));
  const auto act = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const Place place, place_of(file));
    const auto trial =
        linux::sys::openat(place.directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (!trial && (trial.error().number() == EROFS || trial.error().number() == EACCES))
      return fail(trial.error().number(), "write into its directory");
    OCIRUN_TRY(read_calls(place, own.value_or(SeccompProfile())));
    return {};
  };
  OCIRUN_TRY(within(act(), "{}", file.string()));
  return LearnedProfile(file, std::move(own));
}

Result<void> LearnedProfile::add(const linux::LearnedCalls& used) const {
  const SeccompProfile own = own_.value_or(SeccompProfile());
  const auto act = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const Place place, place_of(file_));
    await_other_runs(place.directory);
    OCIRUN_TRY_ASSIGN(linux::LearnedCalls calls, read_calls(place, own));
    calls.names.insert(used.names.begin(), used.names.end());
    calls.names.insert(std::begin(kAlways), std::end(kAlways));
    calls.architectures.insert(used.architectures.begin(), used.architectures.end());
    for (const std::uint32_t token : own.architectures)
      calls.architectures.emplace(linux::seccomp_architecture_name(token));
    return linux::replace_file(place.directory, place.name, profile_text(calls, own), 0644);
  };
  return within(act(), "{}", file_.string());
}

}  // namespace ocirun::bundle
