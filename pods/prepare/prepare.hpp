#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linux/files/safe_dir.hpp"
#include "pods/documents/workload.hpp"
#include "pods/plan/bundle.hpp"
#include "pods/prepare/files.hpp"
#include "pods/prepare/given.hpp"
#include "pods/prepare/root.hpp"
#include "pods/prepare/volumes.hpp"

namespace ocirun::pods {

/// KN-7, KN-8: directories that can be written to, whatever the image and the root are.
struct ContractDirectory {
  const char* path;
  mode_t mode;
};
inline constexpr std::array kContractDirectories{ContractDirectory{"/tmp", 01777},
                                                 ContractDirectory{"/var/log", 0777}};

/// Where the containers of a pod are put by who runs them.
struct Surroundings {
  SharedNamespaces shared;
  std::string hostname;  // where the containers share no uts namespace
  RootKind root = RootKind::kOverlay;
  /// The cgroup of a container; empty: the runtime chooses.
  std::function<std::string(const std::string& container)> cgroups_path;
  Powers powers;
  linux::IdMap ids;  // of a user namespace for each container; empty: none is made
};

/// What containers can have in the user namespace that the caller is in. `has_cgroups`,
/// `own_network`: whether they have cgroups, and a network namespace that is made here.
Powers powers_here(bool has_cgroups, bool own_network);

/// A container whose bundle is ready.
struct ReadyContainer {
  const Container* container = nullptr;  // of the workload
  std::string bundle;                    // the path of its directory
  std::optional<Root> root;              // of an image; none: that of the operator's bundle
  std::vector<SubPath> parts;            // of volumes, to be shown before each start
  Launch launch;
  int stop_signal = 0;
  std::vector<std::string> warnings;
};

/// Makes the bundle of one container in `site`/NAME: the root filesystem, its
/// config files, its volumes, config.json. Errors name the container.
Result<ReadyContainer> prepare_container(const Workload& workload, const Container& container,
                                         const Given& given, const Store& store,
                                         const StoredImage& image, const Volumes& volumes,
                                         const Site& site, const Surroundings& surroundings,
                                         const std::vector<BoundPath>& network_files);

/// Who is to run the bundles. An ordinary user is root of a user namespace while they are written:
/// a container then makes one with the same ids, so that the files of its root have the owners that
/// the image gives them.
enum class BundleOwner : std::uint8_t { kRoot, kOrdinaryUser };

/// Writes the bundles of a pod into the directory `out`, which must not exist: NAME/config.json and
/// NAME/rootfs for each container, volumes/, etc/. Any OCI runtime can run a bundle. The containers
/// share nothing but the volumes. `data` has the store of images. Returns the warnings. After an
/// error `out` does not exist.
Result<std::vector<std::string>> plan_pod(const Workload& workload, const Given& given,
                                          const HostPath& data, const std::string& name,
                                          const HostPath& out, BundleOwner owner);

/// Makes the bundle of a container that runs a bundle of the operator: in `site`/NAME a config.json
/// with what the Knative contract adds (PORT and K_… KN-1, KN-2; /tmp and /var/log KN-7, KN-8; the
/// network's files KN-9; --user KN-16; --read-only KN-17; read-only cgroup mounts KN-18), the pod's
/// network namespace and cgroup. All else is the operator's, and so is the root filesystem, which
/// is used where it is. Errors name the container.
Result<ReadyContainer> prepare_contract_bundle(const Workload& workload, const Container& container,
                                               const Site& site, const Surroundings& surroundings,
                                               const std::vector<BoundPath>& network_files);

/// Checks that the volumes and config files of a container, which `plan` binds, fit what is at
/// their paths: in the root filesystem `root`, or in a volume that is bound above. Errors, with the
/// place in the document: a file over a directory, a directory over a file, a path through a file,
/// a new path in a volume that is read-only, a path in /proc. What a subPath leads to is not known
/// before the start.
Result<void> check_mount_places(const Workload& workload, const Container& container,
                                const BundlePlan& plan, const linux::SafeDir& root);

/// Errors, all in one sentence: what the containers require and the machine does not have (OAM-12).
/// Nothing of the pod may have been started before.
Result<void> admit(const Workload& workload, const Given& given);

}  // namespace ocirun::pods
