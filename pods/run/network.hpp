#pragma once

#include <string>
#include <vector>

#include "pods/prepare/files.hpp"
#include "pods/run/forwarder.hpp"
#include "pods/run/holder.hpp"
#include "pods/run/settings.hpp"

namespace ocirun::pods {

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
