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
/// Parses the value of --publish. Errors: another form. The error for HOSTPORT:PORT, the form of
/// podman and Docker, has the value that means the same here.
Result<Published> read_published(std::string_view text);

/// The options that open ports of the host.
struct Publishing {
  std::vector<Published> ports;  // --publish
  bool all = false;              // --publish-all
};

/// Changes `pod.host_ports` as the options say. A port of the pod in `publishing.ports` is open
/// only at the addresses and ports of the host there. The other ports are open as the document
/// says, and with `publishing.all` those that would be closed are open at the same number of the
/// host. Published::port may be a number that no container declares. Errors: no container has a
/// port of this name; `publishing.ports` has a port of the host twice; a port of the host would
/// lead to two ports of the pod.
Result<void> publish(const Publishing& publishing, Pod& pod);

/// The ports of the host that lead to ports of the pod. A port of a container alone (containerPort
/// of Kubernetes) opens no port of the host.
std::vector<Forward> forwards_of(const Pod& pod);

/// The ports of containers that no port of the host leads to, each with the same number of the
/// host, where the port would be open. A port that two containers have comes once.
std::vector<Forward> closed_ports(const Pod& pod);

/// A port of a pod.
struct PodPort {
  Forward forward;
  bool is_open = true;  // a port of the host leads to it; if not, `forward` is of closed_ports()
  const Container* container = nullptr;  // that has the port; nullptr: no container names the port
  std::string name;                      // in the document; "": none
};
/// The forwards of the pod and then its closed ports, with the containers that have the ports.
/// Points into `pod`.
std::vector<PodPort> ports_of(const Pod& pod);

}  // namespace ocirun::pods
