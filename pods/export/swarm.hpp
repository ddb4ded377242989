#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pods/export/exported.hpp"
#include "pods/prepare/plan/bindings.hpp"

namespace ocirun::pods {

/// The time from the signal that asks a container to stop to SIGKILL: that of `pod run` and of
/// Kubernetes. Docker's own is 10 seconds.
inline constexpr std::chrono::seconds kSwarmGrace{30};
/// The time that the containers of `pod` have between the stop signal and SIGKILL.
inline std::chrono::seconds grace_of(const Pod& pod) { return pod.grace.value_or(kSwarmGrace); }

/// A stack of Docker Swarm that is being made: its services in Compose 3.8, and the objects that
/// they share.
struct SwarmStack {
  explicit SwarmStack(Translation& workload)
      : translation(workload),
        configs(workload.new_object()),
        secrets(workload.new_object()),
        volumes(workload.new_object()) {}

  Translation& translation;
  YamlPart configs, secrets, volumes;                    // the top-level objects, by name
  std::map<std::string, std::string> files = {};         // the content of the configs, by path
  std::map<std::string, std::string> volume_names = {};  // of persistent volumes, by the document's
  std::map<std::pair<std::string, std::string>, std::string> secret_names = {};  // by id and key
  std::set<std::pair<std::uint32_t, Protocol>> published = {};  // ports of the nodes

  /// The label of the node that keeps the persistent volumes of the stack.
  std::string volume_label() const { return translation.request().name + ".volumes"; }
};

/// The environment of a container, and the variables that "$(NAME)" can refer to.
struct SwarmVariables {
  YamlPart environment;
  Variables named;
};

/// The variables of a container. Losses: those that come from secrets. Errors: a config map cannot
/// be read.
Result<SwarmVariables> swarm_variables(Translation& translation, const Container& container);

/// Quotes each "{{" of `text`, because Swarm expands Go templates in variables and in paths of
/// mounts.
std::string without_templates(std::string_view text);

/// "64M", "1000b": bytes with the largest unit that leaves them whole. Units are powers of 1024.
std::string compose_bytes(std::uint64_t bytes);

/// Adds the files of a volume that is a secret or a config map to the lists of a service, and to
/// the stack the configs and secrets that they come from. Losses: a secret whose keys are unknown,
/// a config map whose content is unknown. Errors: the directory of --secret cannot be read.
Result<void> add_swarm_key_files(SwarmStack& stack, const Volume& volume, const Mount& mount,
                                 YamlPart& configs, YamlPart& secrets);
/// Adds a config file of OAM to `configs` and to the stack. Losses: an empty file, and one that is
/// too large.
void add_swarm_config(SwarmStack& stack, const Container& container, const ConfigFile& file,
                      YamlPart& configs);

/// Adds volumes, configs and secrets to a service, and to the stack what they refer to. Losses: a
/// secret whose keys are unknown; sizes, modes and parts of volumes. Errors: a secret or a config
/// map cannot be read.
Result<void> add_swarm_mounts(SwarmStack& stack, const Container& container, YamlPart& service);

/// Adds the health check: the liveness probe, else the readiness probe. Losses: probes over the
/// network; a second probe.
void add_swarm_health_check(Translation& translation, const Container& container,
                            YamlPart& service);

/// Adds the user, the capabilities and the read-only root. Losses: what `docker stack deploy`
/// ignores.
void add_swarm_security(Translation& translation, const Container& container, YamlPart& service);

/// Labels of a container or of a service. Losses: those that Docker keeps for itself.
YamlPart swarm_labels(Translation& translation, const Metadata& metadata);

/// ports of a service. Losses: an address; a port of the nodes that another service has.
YamlPart swarm_ports(SwarmStack& stack, const Container& container);

/// deploy of a service: replicas, update, restart, placement, resources.
YamlPart swarm_deploy(SwarmStack& stack, const Container& container, const YamlPart& service);

}  // namespace ocirun::pods
