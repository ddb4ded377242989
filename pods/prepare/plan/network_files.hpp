#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/prepare/plan/bundle.hpp"

namespace ocirun::pods {

/// A line of /etc/hosts.
struct HostLine {
  std::string address, name;
};
/// The text of /etc/hosts: the loopback addresses, and `lines`.
std::string hosts_text(const std::vector<HostLine>& lines);

/// Whether the containers of a pod see the network of the host.
enum class Network : std::uint8_t { kOwn, kHost };

/// Writes /etc/hosts, /etc/hostname and /etc/resolv.conf (KN-9) of a pod into `directory`, whose
/// path is `path`. Returns the binds that show them in the containers. If the pod has a network of
/// its own, leaves out name servers at loopback addresses, which are the host's.
Result<std::vector<BoundPath>> write_network_files(const std::string& pod_name, Network network,
                                                   Fd directory, const std::string& path);

}  // namespace ocirun::pods
