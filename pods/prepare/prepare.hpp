#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "linux/files/safe_dir.hpp"
#include "pods/documents/workload.hpp"
#include "pods/prepare/complete.hpp"
#include "pods/prepare/devices.hpp"
#include "pods/prepare/files.hpp"
#include "pods/prepare/plan/bundle.hpp"
#include "pods/prepare/root.hpp"
#include "pods/prepare/volumes.hpp"

namespace ocirun::pods {

/// Refuses a pod that requires more than the machine has (OAM-12), or devices that the machine does
/// not have. The error lists everything that is missing. Must be called before anything of the pod
/// is started.
Result<void> admit(const Completed& completed);

/// A directory that each container can write to, whatever its image and its root are (KN-7, KN-8).
struct ContractDirectory {
  const char* path;
  mode_t mode;
};
inline constexpr std::array kContractDirectories{ContractDirectory{"/tmp", 01777},
                                                 ContractDirectory{"/var/log", 0777}};

/// The things that the containers of a pod get from the runner of the pod.
struct Sandbox {
  SharedNamespaces shared;
  std::string hostname;  // used where the containers share no uts namespace
  RootKind root = RootKind::kOverlay;
  /// Returns the cgroupsPath of a container. Empty: the runtime chooses the cgroup.
  std::function<std::string(const std::string& container)> cgroups_path;
  Powers powers;
  linux::IdMap ids;  // for a user namespace of each container; empty: it gets none
};

/// What containers can have in the user namespace of the caller. `has_cgroups`: they get cgroups.
/// `own_network`: they get a network namespace that belongs to this user namespace.
Powers powers_here(bool has_cgroups, bool own_network);

/// A container whose bundle is ready.
struct ReadyContainer {
  const Container* container = nullptr;  // of the workload
  std::string bundle;                    // the path of its directory
  std::optional<Root> root;    // made from an image; nothing: the operator's bundle has its own
  std::vector<SubPath> parts;  // parts of volumes, which show() has to show before each start
  Launch launch;
  int stop_signal = 0;
  std::vector<std::string> warnings;
};

/// Checks that the volumes and config files which `plan` binds can be mounted at their paths in the
/// root filesystem `root`, or in a volume that is bound above. Errors, with the place in the
/// document: a file over a directory, a directory over a file, a path through a file, a new path in
/// a read-only volume, a path in /proc. Does not check mounts of a subPath, whose target is not
/// known before the start.
Result<void> check_mount_places(const Workload& workload, const Container& container,
                                const BundlePlan& plan, const linux::SafeDir& root);

/// The image of each container that has one. The store has all layers of these images.
using StoredImages = std::map<const Container*, StoredImage>;

/// What the bundles of a pod are made of.
struct PodParts {
  const Completed& completed;
  const Store& store;
  const StoredImages& images;
  const Volumes& volumes;
  const PodDevices& devices;
  const Sandbox& sandbox;
  const std::vector<BoundPath>& network_files;
};

/// Makes the bundle of each container in `site`/NAME: the root filesystem, the config files, the
/// volumes, and config.json. The order is that of all_containers(). Errors name the container.
Result<std::vector<ReadyContainer>> make_bundles(const PodParts& parts, const Site& site);
/// Like make_bundles(), for a new directory `parent`/`name` as the site.
Result<std::vector<ReadyContainer>> make_bundles_below(const PodParts& parts, const Site& parent,
                                                       const char* name);

/// Who will run the bundles. kOrdinaryUser: the caller is root of a user namespace now. Each
/// config.json asks for a user namespace with the same ids, so that the files of the image have
/// their owners there too.
enum class BundleOwner : std::uint8_t { kRoot, kOrdinaryUser };

struct PlanTarget {
  std::string name;  // of the pod
  Site site;         // an empty directory
  BundleOwner owner = BundleOwner::kRoot;
};

/// Writes the bundles of a pod into the directory of `target`: NAME/config.json and NAME/rootfs for
/// each container, volumes/, etc/. Any OCI runtime can run such a bundle. The containers share only
/// the volumes. `data` is the directory of --data, which has the store of images. Returns the
/// warnings. After an error the directory has a part of the files.
Result<std::vector<std::string>> plan_pod(const Completed& completed, const HostPath& data,
                                          const PlanTarget& target);

/// Makes the bundle of a container whose workload is a bundle of the operator. Writes in
/// `site`/NAME a config.json: that of the operator, with what the Knative contract adds (PORT and
/// K_… KN-1, KN-2; /tmp and /var/log KN-7, KN-8; the network's files KN-9; --user KN-16;
/// --read-only KN-17; read-only cgroup mounts KN-18), and with the pod's network namespace and
/// cgroup. The root filesystem stays where it is. Errors name the container.
Result<ReadyContainer> prepare_contract_bundle(const PodParts& parts, const Container& container,
                                               const Site& site);

}  // namespace ocirun::pods
