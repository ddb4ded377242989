#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pods/run/run_pod.hpp"
#include "pods/run/supervisor.hpp"
#include "pods/state/pod_directory.hpp"
#include "pods/surroundings/holder.hpp"
#include "pods/surroundings/network.hpp"

namespace ocirun::pods {

/// A pod on its way from the document to running containers. Each step fills what the next needs.
class Launching {
 public:
  Launching(Workload& workload, const Settings& settings, PodDirectory directory,
            NetworkPlan network, Images images, std::string cgroup, StopSignals signals,
            const Listener& listener);

  /// Starts and supervises the pod. Returns what Supervisor::run() returns. After an error, what
  /// has been started is still there.
  Result<int> run();
  /// Removes the pod's processes, containers, cgroup and mounts.
  Result<void> take_down();

  const PodDirectory& directory() const { return directory_; }
  /// The record of the pod whose run() has ended so.
  PodRecord ended_record(const Result<int>& status) const;
  /// The exit status of a run() that has failed: 127 or 126 for a program that cannot be executed.
  int failure_status() const;

 private:
  /// For probes; empty: the host's.
  Result<UniqueFd> open_network() const;
  /// Opens the pod's directory and the store of images in the pod's mount namespace: the kernel
  /// mounts nothing on, and no overlay of, what was opened in another one. `directory_` stays
  /// without the pod's mounts, so that who removes it never comes to the files of a volume.
  Result<void> open_here();
  Result<void> begin_record();
  /// The cgroup, the namespaces and the network, all of them recorded as soon as they exist.
  Result<void> start_surroundings();
  Result<void> start_cgroup();
  Sharing sharing() const;
  SharedNamespaces shared() const;
  std::string cgroups_path_of(const std::string& container) const;
  Result<void> prepare_containers(const Volumes& volumes);
  std::vector<std::uint16_t> ports_of_apps() const;
  /// The service runs before the first app asks.
  Result<void> start_metadata(MetadataService& metadata);
  Result<ContainerOutput> open_output(const ContainerRecord& container);

  Workload& workload_;
  const Settings& settings_;
  PodDirectory directory_;
  NetworkPlan network_;
  Images images_;
  std::string cgroup_;  // "": the pod gets none
  StopSignals signals_;
  const Listener& listener_;
  Runtime runtime_;
  PodRecord record_;
  UniqueFd host_mounts_;  // the mount namespace of the caller
  UniqueFd here_;         // directory_, in the pod's mount namespace
  std::optional<Forwarder> forwarder_;
  std::vector<ReadyContainer> ready_;
};

}  // namespace ocirun::pods
