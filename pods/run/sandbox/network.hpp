#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pods/prepare/plan/network_files.hpp"
#include "pods/prepare/plan/ports.hpp"

namespace ocirun::pods {

/// --net
struct NetworkChoice {
  enum class Kind : std::uint8_t {
    kDefault,     // as kPod; as kNone if pasta cannot work and no port is forwarded
    kPod,         // a namespace of the pod's own, connected by pasta
    kUnfiltered,  // as kPod, but pasta gets all frames
    kHost,
    kNone,  // a namespace of the pod's own with a loopback device only
    kPath,
  };
  Kind kind = Kind::kDefault;
  std::string path{};    // kPath: of a network namespace
  std::string shared{};  // --network: the network that the pod shares with other pods; "": none
};

/// The network of a pod.
struct NetworkPlan {
  bool own_network = true;  // the holder has a network namespace
  std::string path;   // if not: the path of the network namespace that the pod uses; "": the host's
  std::string pasta;  // the path of the program that connects the pod; "": the pod is not connected
  bool is_filtered = true;  // frames to the host's loopback addresses do not reach pasta
  std::vector<Forward> forwards;
  std::string shared;  // the network that the pod shares with other pods; "": none
  std::vector<std::string> warnings;

  Network visible() const { return !own_network && path.empty() ? Network::kHost : Network::kOwn; }
};

/// Plans the network for --net, --network and the ports of the document. Errors: pasta is needed,
/// and is not installed or cannot open /dev/net/tun; the path of --net cannot be opened; --net host
/// cannot lead a port to another one.
Result<NetworkPlan> plan_network(const Pod& pod, const NetworkChoice& choice);

}  // namespace ocirun::pods
