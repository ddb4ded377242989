#pragma once

// The parts of a Pod as an engine of many machines gets them, whatever the engine.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pods/export/translation.hpp"

namespace ocirun::pods {

/// The reference of a container's image in a registry; "" after a loss.
std::string exported_image(Translation& translation, const Container& container);
/// imagePullPolicy for --pull, else for the container's `own` rule; "" without both.
std::string exported_pull_policy(const ExportRequest& request, std::optional<PullPolicy> own = {});

/// The variables of a container in the order in which they are set: those of connections, those of
/// the document, and the platform's own. A later one takes the place of an earlier one of the same
/// name.
std::vector<EnvVariable> exported_variables(const Translation& translation,
                                            const Container& container);

/// The content of a config file.
std::string exported_content(const Translation& translation, const ConfigFile& file);

/// Labels and annotations of the pods: those of the document, and the annotations that all
/// containers have alike. A loss for each annotation that only some of several containers have.
Metadata exported_metadata(Translation& translation);

/// The requests and limits of a container in the output. --enforce-required makes requests limits
/// too. The only container of a pod also gets the limits of the whole pod.
struct ExportedAmounts {
  Amounts requests, limits;
};
ExportedAmounts exported_amounts(const Translation& translation, const Container& container);

/// The volumes of the document, and those that mount points ask for.
std::vector<Volume> exported_volumes(const Pod& pod);

/// Whether the port of the host leads to this port of a container.
bool leads_to(const HostPort& host, const Port& port);
/// Whether the document gives `host` at `port`, or at none of the ports of `container`. A container
/// may list a port twice, for two addresses of the host: each item then has its own port of the
/// host.
bool is_entry_of(const HostPort& host, const Port& port, const Container& container);
/// The ports of the host that lead to a port which no container lists. Losses: a port of the host
/// whose port of the pod is unknown.
std::vector<const HostPort*> unlisted_host_ports(Translation& translation);

/// CPUs in thousandths, rounded up, at least one.
std::uint64_t in_thousandths(double cpus);
/// Bytes with the largest unit that leaves them whole. Each unit is 1024 times the unit before.
std::string in_largest_unit(std::uint64_t bytes, std::span<const std::string_view> units);

/// Loses the mode and the owner that the document gives an empty volume, which has the mode `mode`
/// in the engine, and root for its owner.
void lose_owner(Translation& translation, const Volume& volume, mode_t mode);
/// Loses limits of the whole pod, if it has several containers.
void lose_pod_limits(Translation& translation);
/// Loses a second number of replicas.
void lose_other_replicas(Translation& translation);

/// Whether the container mounts the volume, or has a mount point for it.
bool uses_volume(const Container& container, const std::string& volume);

/// `name`, or a similar name that `used` does not have. Adds the name to `used`.
std::string unique_name(const std::string& name, std::set<std::string>& used);

/// The object whose list has the container: the pod's spec in documents of Kubernetes and Knative.
/// The container must have a place.
Place container_list_owner(const Container& container);

/// Whether a mount of the container has the path of the mount point.
bool is_mounted(const Container& container, const MountPoint& point);

/// Whether the mount, or the container's mount point of the same path, is read-only.
bool is_read_only(const Container& container, const Mount& mount);

/// The lower-case form of `name` as a DNS label, in which "-" replaces each character that no label
/// may have; "" if nothing is left.
std::string as_dns_label(std::string_view name);

}  // namespace ocirun::pods
