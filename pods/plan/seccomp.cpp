#include "pods/plan/seccomp.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "bundle/config/sections.hpp"
#include "pods/plan/default_seccomp.hpp"

namespace ocirun::pods {
namespace {

/// The filter that a document asks for (AC-18).
Result<void> write_isolator(bundle::JsonWriter& out, const Security::SystemCalls& calls) {
  std::vector<std::string> names;
  for (const std::string& name : calls.names) {
    if (!name.starts_with('@')) {
      names.push_back(name);
      continue;
    }
    const bool all = name == "@appc.io/all";
    if (!all && name != "@appc.io/empty")
      return refuse("unknown set of system calls \"{}\" (known: @appc.io/all, @appc.io/empty)",
                    name);
    if (all && calls.allowed) return {};  // no filter
    if (all) return refuse("\"{}\": a program cannot run without any system call", name);
  }
  std::string action = "SCMP_ACT_KILL_PROCESS";
  std::optional<int> error;
  if (!calls.errno_name.empty()) {
    error = find_errno(calls.errno_name);
    if (!error) return refuse("unknown error \"{}\"", calls.errno_name);
    action = "SCMP_ACT_ERRNO";
  }
  out.key("seccomp").begin_object();
  out.member("defaultAction", calls.allowed ? std::string_view(action) : "SCMP_ACT_ALLOW");
  if (calls.allowed && error) out.member("defaultErrnoRet", *error);
  out.key("syscalls").begin_array();
  if (!names.empty()) {
    out.begin_object().member("names", names);
    out.member("action", calls.allowed ? "SCMP_ACT_ALLOW" : action.c_str());
    if (!calls.allowed && error) out.member("errnoRet", *error);
    out.end_object();
  }
  out.end_array().end_object();
  return {};
}

/// Makes unknown members problems. Unknown system calls, which stand in lists, are none: a profile
/// may be newer than libseccomp.
void refuse_unknown_names(bundle::Report& report) {
  const std::vector<std::string>& warnings = report.warnings();
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    const bundle::Node* node = report.nodes_of_warnings()[i];
    if (node != nullptr && node->parent != nullptr && node->parent->is_object())
      report.problem(warnings[i], node);
  }
}

}  // namespace

Result<SeccompChoice> read_seccomp_profile(std::string text) {
  bundle::Document document;
  bundle::Report report(bundle::UnknownNames::kTold);
  linux::SeccompProfile profile;
  if (document.parse(text, report))
    bundle::read_seccomp(bundle::Value(*document.root(), report), profile);
  refuse_unknown_names(report);
  if (!report.ok())
    return refuse("the profile must be an object of the form of linux.seccomp in config.json: {}",
                  bundle::first_of(report.problems(), report.problem_count()));
  return SeccompChoice{.kind = SeccompChoice::Kind::kProfile, .profile = std::move(text)};
}

Result<void> write_seccomp(bundle::JsonWriter& out, const Security& security,
                           std::span<const std::string> capabilities, const SeccompChoice& choice) {
  if (security.system_calls) return write_isolator(out, *security.system_calls);
  switch (choice.kind) {
    case SeccompChoice::Kind::kUnconfined:
      return {};
    case SeccompChoice::Kind::kDefault:
      write_default_seccomp(out.key("seccomp"), capabilities);
      return {};
    case SeccompChoice::Kind::kProfile:
      break;
  }
  bundle::Document document;
  bundle::Report report;
  if (!document.parse(choice.profile, report))
    return refuse("the seccomp profile: {}", report.problems().front());
  out.key("seccomp").value(*document.root());
  return {};
}

}  // namespace ocirun::pods
