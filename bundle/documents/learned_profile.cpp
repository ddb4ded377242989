#include "bundle/documents/learned_profile.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"

namespace ocirun::bundle {
namespace {

using linux::SeccompAction;
using linux::SeccompProfile;
using linux::SeccompRule;

/// Calls that every program needs, and that a run need not show: the kernel makes some of them, and
/// the learning filter does not hand out write.
constexpr const char* kAlways[] = {"execve",          "exit",  "exit_group", "restart_syscall",
                                   "rt_sigreturn", "write"};
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

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

/// The rules of `own` for the names, without those that no run has used, and a rule for the names
/// that `own` has no rule for.
std::vector<SeccompRule> rules_for(std::set<std::string> names, const SeccompProfile& own) {
  std::vector<SeccompRule> rules;
  std::set<std::string> without_rule = names;
  for (SeccompRule rule : own.rules) {
    if (rule.action == SeccompAction::kAllow)
      std::erase_if(rule.names, [&](const std::string& name) { return !names.contains(name); });
    if (rule.names.empty()) continue;
    if (rule.action == SeccompAction::kAllow || rule.arguments.empty())
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

std::string profile_text(const std::set<std::string>& names, const SeccompProfile& own) {
  JsonWriter json(JsonWriter::Layout::kIndented);
  json.begin_object().member("defaultAction", linux::seccomp_action_name(SeccompAction::kErrno));
  if (own.default_errno_ret) json.member("defaultErrnoRet", *own.default_errno_ret);
  if (!own.architectures.empty()) {
    json.key("architectures").begin_array();
    for (const std::uint32_t token : own.architectures)
      json.value(linux::seccomp_architecture_name(token));
    json.end_array();
  }
  if (own.flags) {
    json.key("flags").begin_array();
    for (const std::string_view name : linux::seccomp_flag_names())
      if ((*own.flags & linux::seccomp_flag(name).value_or(0)) != 0) json.value(name);
    json.end_array();
  }
  json.key("syscalls").begin_array();
  for (const SeccompRule& rule : rules_for(names, own)) write_rule(json, rule);
  json.end_array().end_object();
  return std::move(json).take() + "\n";
}

}  // namespace

Result<LearnedProfile> LearnedProfile::open(const HostPath& file) {
  LearnedProfile learned;
  learned.file_ = file;
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, linux::open_parent(file));
  const std::string name = file.string().substr(file.string().rfind('/') + 1);
  const auto text = linux::read_file(directory, name, kMostBytes, O_CLOEXEC);
  if (is_missing(text)) return learned;
  if (!text) return within(Result<LearnedProfile>(std::unexpected(text.error())), "{}", name);
  OCIRUN_TRY_ASSIGN(const SeccompProfile earlier, within(parse_seccomp(*text), "{}", file.string()));
  for (const SeccompRule& rule : earlier.rules)
    if (rule.action == SeccompAction::kAllow)
      learned.names_.insert(rule.names.begin(), rule.names.end());
  return learned;
}

Result<void> LearnedProfile::add(std::set<std::string> used,
                                 const std::optional<SeccompProfile>& own) {
  names_.merge(used);
  names_.insert(std::begin(kAlways), std::end(kAlways));
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, linux::open_parent(file_));
  const std::string name = file_.string().substr(file_.string().rfind('/') + 1);
  return linux::replace_file(directory, name, profile_text(names_, own.value_or(SeccompProfile())),
                             0644);
}

}  // namespace ocirun::bundle
