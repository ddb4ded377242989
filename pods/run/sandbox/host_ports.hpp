#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/prepare/plan/ports.hpp"

namespace ocirun::pods {

/// Returns a name for a process of the host in messages, such as "the pod \"web\""; "" to name it
/// by its program.
using ProcessNamer = std::function<std::string(int pid)>;

/// Checks that a port of the host can be opened now, for IPv4 and IPv6, in the caller's network
/// namespace. Errors: a process has the port, which the error names if the caller may know it; only
/// root may open the port; the host does not have the address.
Result<void> check_free(const Forward& forward, const ProcessNamer& namer);

/// A line of /proc/net/tcp, tcp6, udp or udp6.
struct SocketLine {
  std::string address;  // as the file writes it: "0100007F"
  std::uint16_t port = 0;
  bool listens = false;
  unsigned uid = 0;
  std::uint64_t inode = 0;
};
/// Parses the sockets in such a file. Skips lines in another form.
std::vector<SocketLine> parse_sockets(std::string_view table);

}  // namespace ocirun::pods
