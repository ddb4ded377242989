#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pods/prepare/files.hpp"
#include "pods/prepare/root.hpp"
#include "pods/prepare/volumes.hpp"

namespace ocirun::pods {

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
  Root root;
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
