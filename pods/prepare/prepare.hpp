#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pods/prepare/files.hpp"
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

}  // namespace ocirun::pods
