#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::linux {

/// One linux.sysctl entry (L-35): `path` is below /proc/sys with slashes ("net/ipv4/ip_forward").
struct Sysctl {
  std::string name;  // as written in config.json, for messages
  std::string path;
  std::string value;
};

/// Parses a key with dots or with slashes ("net.ipv4.ip_forward", "net/ipv4/conf/eth0.1/…") into a
/// Sysctl.
/// Errors: not a namespaced sysctl, "..", empty parts.
Result<Sysctl> parse_sysctl(std::string_view key, std::string value);

/// Refuses a sysctl for which the container has no namespace of its own: config.json does not list
/// the namespace, or names a path that turns out to be the runtime's namespace. Refuses
/// kernel.hostname, for which there is the field `hostname`.
Result<void> check_sysctl(const Sysctl& sysctl, const NamespaceSet& namespaces);

/// Whether the sysctl belongs to one network interface other than lo ("net/ipv4/conf/eth0/…", or
/// below neigh/). Such a sysctl may appear only after a hook has created the interface.
bool is_interface_sysctl(const Sysctl& sysctl);

enum class SysctlsOf { kInterfaces, kTheRest };
/// The sysctls of network interfaces (is_interface_sysctl()), or all others, in their order.
std::vector<Sysctl> select_sysctls(std::span<const Sysctl> sysctls, SysctlsOf wanted);

/// Writes the sysctls through a full procfs of our own that is mounted for this call only.
Result<void> write_sysctls(std::span<const Sysctl> sysctls);
/// Writes the sysctls through `procfs`, a full one, into the namespaces of the caller.
Result<void> write_sysctls(std::span<const Sysctl> sysctls, const Procfs& procfs);

/// The value of a sysctl of the host ("user.max_user_namespaces"), for the text of an error; ""
/// where this kernel has no such sysctl.
std::string read_sysctl(std::string_view name);

}  // namespace ocirun::linux
