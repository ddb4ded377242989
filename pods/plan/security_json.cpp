#include "pods/plan/security_json.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "linux/process/capabilities.hpp"

namespace ocirun::pods {
namespace {

/// What a container keeps unless its document says otherwise: enough to change users and owners and
/// to listen on any port of its own network, and nothing that reaches the host.
constexpr std::array<std::string_view, 11> kDefaultCapabilities = {
    "CAP_CHOWN",   "CAP_DAC_OVERRIDE",     "CAP_FOWNER",    "CAP_FSETID",
    "CAP_KILL",    "CAP_NET_BIND_SERVICE", "CAP_SETFCAP",   "CAP_SETGID",
    "CAP_SETPCAP", "CAP_SETUID",           "CAP_SYS_CHROOT"};

}  // namespace

Result<void> write_capabilities(bundle::JsonWriter& out, const Security& security) {
  std::vector<std::string> kept(kDefaultCapabilities.begin(), kDefaultCapabilities.end());
  if (security.retained_capabilities) kept = *security.retained_capabilities;
  for (const auto& names : {kept, security.removed_capabilities})
    for (const std::string& name : names)
      if (!linux::capability_number(name)) return refuse("unknown capability \"{}\"", name);
  std::erase_if(kept, [&](const std::string& name) {
    return std::ranges::find(security.removed_capabilities, name) !=
           security.removed_capabilities.end();
  });
  out.key("capabilities").begin_object();
  for (const std::string_view set : {"bounding", "effective", "permitted"}) out.member(set, kept);
  out.end_object();
  return {};
}

Result<void> write_seccomp(bundle::JsonWriter& out, const Security& security) {
  if (!security.system_calls) return {};
  const Security::SystemCalls& calls = *security.system_calls;
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

}  // namespace ocirun::pods
