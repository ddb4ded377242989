#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/documents/model/pod.hpp"

namespace ocirun::pods {

/// A port of the host that leads to a port of the pod.
struct Forward {
  std::string address;  // IPv4 or IPv6; "": all addresses of the host
  std::uint16_t host_port = 0, pod_port = 0;
  Protocol protocol = Protocol::kTcp;
  Place place = nullptr;  // of the port in the document
  friend bool operator==(const Forward& a, const Forward& b) {
    return a.address == b.address && a.host_port == b.host_port && a.pod_port == b.pod_port &&
           a.protocol == b.protocol;
  }
};

/// --publish PORT=[ADDRESS:]HOSTPORT
struct Published {
  std::string port;     // the name of a port of a container, or NUMBER[/tcp|/udp]
  std::string address;  // IPv4 or IPv6; "": all addresses of the host
  std::uint16_t host_port = 0;
};
/// Parses the value of --publish. Errors: another form.
Result<Published> read_published(std::string_view text);

/// Changes `pod.host_ports` as --publish says. A port of the pod in `published` is open only at the
/// addresses and ports of the host in `published`. The other ports are open as the document says.
/// Published::port may be a number that no container declares. Errors: no container has a port of
/// this name; `published` has a port of the host twice.
Result<void> publish(const std::vector<Published>& published, Pod& pod);

/// The ports of the host that lead to ports of the pod: those that the document maps (App
/// Container), else each port of a container at the same number. A port that two containers have
/// comes once.
std::vector<Forward> forwards_of(const Pod& pod);

/// A port of a pod.
struct PodPort {
  Forward forward;
  const Container* container = nullptr;  // that has the port; nullptr: no container names the port
  std::string name;                      // in the document; "": none
};
/// The forwards of the pod, with the containers that have the ports. Points into `pod`.
std::vector<PodPort> ports_of(const Pod& pod);

}  // namespace ocirun::pods
