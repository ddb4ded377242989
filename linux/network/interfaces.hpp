#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// linux.netDevices (L-29): a host device that moves into the container's network namespace.
struct NetDevice {
  std::string host_name;
  std::string container_name;  // the same as host_name when `name` is absent; may hold one "%d"
};

/// Allowed: 1 to 15 bytes, not "." or "..", no "/", ":" or white space, "%" only in a single "%d"
/// (a template, in which the kernel replaces "%d" by a free number).
bool is_valid_interface_name(std::string_view name);

/// Sets `lo` of the calling thread's network namespace up (L-8).
Result<void> bring_loopback_up();

/// Counters of a network interface.
struct InterfaceStats {
  std::string name;
  std::uint64_t rx_bytes = 0, rx_packets = 0, rx_errors = 0, rx_dropped = 0;
  std::uint64_t tx_bytes = 0, tx_packets = 0, tx_errors = 0, tx_dropped = 0;
};

/// Parses the text of /proc/PID/net/dev. The loopback interface is left out.
std::vector<InterfaceStats> parse_interface_stats(std::string_view text);

/// The interfaces of the network namespace of `pid`. None if that is the caller's own namespace,
/// whose traffic is the host's. Errors: ESRCH, ENOENT.
Result<std::vector<InterfaceStats>> read_interface_stats(int pid);

}  // namespace ocirun::linux
