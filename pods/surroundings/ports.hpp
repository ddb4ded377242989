#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/model/pod.hpp"

namespace ocirun::pods {

/// A port of the host that leads to a port of the pod.
struct Forward {
  std::string address;  // IPv4; "": all addresses of the host
  std::uint16_t host_port = 0, pod_port = 0;
  Protocol protocol = Protocol::kTcp;
  Place place = nullptr;  // of the port in the document
  friend bool operator==(const Forward& a, const Forward& b) {
    return a.address == b.address && a.host_port == b.host_port && a.pod_port == b.pod_port &&
           a.protocol == b.protocol;
  }
};

/// The ports of a pod that the host answers on: those that the document maps (App Container), else
/// each port of a container at the same number. Errors: two containers have the same port.
Result<std::vector<Forward>> forwards_of(const Pod& pod);

/// Names a process of the host for messages, if more of it is known than the name of its program:
/// "the pod \"web\""; "": no more is known.
using ProcessNamer = std::function<std::string(int pid)>;

/// Whether a port of the host can be opened now, in the caller's network namespace, IPv4 and IPv6.
/// Errors: the port is taken, with who has it as far as the caller may know; only root may open it;
/// the host does not have the address.
Result<void> check_free(const Forward& forward, const ProcessNamer& namer);

/// A line of /proc/net/tcp, tcp6, udp or udp6.
struct SocketLine {
  std::string address;  // as the file writes it: "0100007F"
  std::uint16_t port = 0;
  bool listens = false;
  unsigned uid = 0;
  std::uint64_t inode = 0;
};
/// The sockets of such a file. Lines in another form are left out.
std::vector<SocketLine> parse_sockets(std::string_view table);

}  // namespace ocirun::pods
