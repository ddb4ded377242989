#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pods/prepare/files.hpp"
#include "pods/surroundings/ports.hpp"

namespace ocirun::pods {

/// --net
struct NetworkChoice {
  enum class Kind : std::uint8_t {
    kDefault,  // kPod; without pasta only if no port has to be forwarded
    kPod,      // a namespace of the pod's own, connected by pasta
    kHost,
    kNone,  // a namespace of the pod's own with a loopback device only
    kPath,
  };
  Kind kind = Kind::kDefault;
  std::string path;  // kPath: of a network namespace
};

/// How the containers of a pod reach a network and are reached.
struct NetworkPlan {
  bool own_network = true;  // the holder has a network namespace
  std::string path;         // without one: of another namespace; "": the host's
  std::string pasta;        // the program that connects the pod; "": nothing does
  std::vector<Forward> forwards;
  std::vector<std::string> warnings;

  Network visible() const { return !own_network && path.empty() ? Network::kHost : Network::kOwn; }
};

/// What --net and the ports of the document give together. Errors: ports that nothing can forward,
/// because pasta is not installed or the host does not let a port be moved.
Result<NetworkPlan> plan_network(const Pod& pod, const NetworkChoice& choice);

}  // namespace ocirun::pods
