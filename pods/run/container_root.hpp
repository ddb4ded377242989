#pragma once

#include "linux/base/ids.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/namespaces/id_map.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

/// The root directory of a container that runs, with the mounts of the container.
struct ContainerRoot {
  linux::SafeDir directory;
  /// The ids of the container as the caller sees them. Empty: the container is in the caller's user
  /// namespace.
  linux::IdMap ids;
};

/// Opens the root directory of a container of the pod. The runtime must confirm that the recorded
/// process is the container's, and the process must outlive the answer: a pid may be reused.
/// Errors: the program of the container does not run (any more); the caller may not open its root.
Result<ContainerRoot> open_container_root(const PodRecord& record,
                                          const ContainerRecord& container);

/// The owner of a file.
struct OwnerIds {
  Uid uid;
  Gid gid;
};
/// Converts ids of a container to those that system calls of the caller take. Errors: the container
/// does not have the id.
Result<OwnerIds> owner_in(const ContainerRoot& root, const OwnerIds& inside);

}  // namespace ocirun::pods
