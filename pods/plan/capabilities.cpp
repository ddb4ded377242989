#include "pods/plan/capabilities.hpp"

#include <algorithm>
#include <array>

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

Result<std::vector<std::string>> kept_capabilities(const Security& security) {
  std::vector<std::string> kept(kDefaultCapabilities.begin(), kDefaultCapabilities.end());
  if (security.retained_capabilities) kept = *security.retained_capabilities;
  for (const auto& names : {kept, security.removed_capabilities})
    for (const std::string& name : names)
      if (!linux::capability_number(name)) return refuse("unknown capability \"{}\"", name);
  std::erase_if(kept, [&](const std::string& name) {
    return std::ranges::find(security.removed_capabilities, name) !=
           security.removed_capabilities.end();
  });
  return kept;
}

void write_capabilities(bundle::JsonWriter& out, const std::vector<std::string>& kept) {
  out.key("capabilities").begin_object();
  for (const std::string_view set : {"bounding", "effective", "permitted"}) out.member(set, kept);
  out.end_object();
}

}  // namespace ocirun::pods
