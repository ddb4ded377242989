#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "pods/prepare/devices.hpp"
#include "pods/run/kept_pod.hpp"
#include "pods/run/networks/membership.hpp"
#include "pods/run/run_pod.hpp"
#include "pods/run/sandbox/holder.hpp"
#include "pods/run/sandbox/network.hpp"
#include "pods/run/supervisor.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods {

/// Takes a pod from its document, or from a supervisor that was killed, to containers that are
/// supervised. Each step sets the members that the next step needs.
class Launching {
 public:
  Launching(NewPod pod, PodDirectory directory, SupervisorSignals signals,
            const Listener& listener);

  /// Starts and supervises the pod. Returns what Supervisor::run() returns. After an error, the
  /// caller has to call take_down().
  Result<int> run();

  /// Adopts the pod of the directory, whose supervisor was killed, and supervises it. `record` is
  /// the record of the pod. Returns what Supervisor::run() returns. After an error the pod is as
  /// before, and the caller must not call take_down().
  Result<int> adopt(PodRecord record);
  /// Removes the pod's processes, containers, cgroup and mounts.
  Result<void> take_down();

  const PodDirectory& directory() const { return directory_; }
  /// The record of the pod after run() has returned `status`.
  PodRecord ended_record(const Result<int>& status) const;
  const PodRecord& record() const { return record_; }

 private:
  /// Opens the network namespace of the pod for probes; empty if it is the host's.
  Result<UniqueFd> open_network() const;
  /// Opens the pod's directory and the store of images again, in the pod's mount namespace: the
  /// kernel refuses to mount on, and to make an overlay of, directories that were opened in another
  /// mount namespace. `directory_` stays as it was, without the mounts of the pod, so that removing
  /// it never reaches the files of a volume.
  Result<void> open_here();
  Result<void> begin_record();
  /// Makes the cgroup, the namespaces and the network. Records each of them before it can outlive
  /// this process.
  Result<void> start_sandbox();
  Result<void> start_cgroup();
  void make_forwarder();
  Sharing sharing() const;
  SharedNamespaces shared() const;
  std::string cgroups_path_of(const std::string& container) const;
  /// Shows the other members of the pod's network in its /etc/hosts.
  Result<void> show_members();
  /// Chooses and locks the CDI devices of the containers, and says which container gets which.
  Result<PodDevices> take_devices();
  Result<void> prepare_containers(const Volumes& volumes, const PodDevices& devices);
  /// Starts the keeper, and gives it all that another supervisor needs to adopt the pod, except the
  /// output of the containers.
  Result<void> start_keeper();
  std::vector<std::uint16_t> ports_of_apps() const;
  /// Starts the metadata service, before any app can ask.
  Result<void> start_metadata();
  std::string metadata_cgroup() const;
  Result<ContainerOutput> open_output(const ContainerRecord& container);
  Result<PodServices> make_services(EventLog& events);
  Result<std::deque<ContainerRun>> make_runs(PodServices& services);
  Result<void> resume_sandbox(const KeptPod& kept);
  Result<void> find_processes();
  Result<void> reopen_containers(const KeptPod& kept);

  NewPod pod_;
  PodDirectory directory_;
  SupervisorSignals signals_;
  const Listener& listener_;
  Runtime runtime_;
  PodRecord record_;
  UniqueFd host_mounts_;  // the mount namespace of the caller
  UniqueFd here_;         // directory_, in the pod's mount namespace
  std::optional<Forwarder> forwarder_;
  std::optional<Membership> membership_;
  std::optional<Keeper> keeper_;
  std::optional<MetadataService> metadata_;
  std::vector<UniqueFd> locks_;  // of volumes and devices
  std::vector<ReadyContainer> ready_;
  Adopted adopted_;
};

}  // namespace ocirun::pods
