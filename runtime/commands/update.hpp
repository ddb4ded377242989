#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

/// A device of the host for a container.
struct DeviceGrant {
  HostPath host;
  RootfsPath path;  // where its node is made in the container
  bool read = true, write = true, mknod = true;
};

/// The changes that `update` makes. Members without a value change nothing.
struct UpdateRequest {
  cgroups::Resources resources;  // its list of device rules, unless empty, replaces the old list
  std::optional<std::string> l3_cache_schema, mem_bw_schema;
  std::vector<DeviceGrant> added_devices;    // each gets a node, and a rule that allows the device
  std::vector<DeviceGrant> removed_devices;  // each gets a rule that denies it, and loses its node
};

/// Called with a warning: a sentence that names a field by its JSON pointer.
using Warn = std::function<void(const std::string& sentence)>;

/// Changes limits, device rules, device nodes and resctrl schemata of a container that is created,
/// running or paused, and the copies of them in the state directory. An error undoes all changes,
/// except that controllers which the update has enabled stay enabled. Errors: "container not
/// running"; a sentence with a pointer into linux.resources; the container has no cgroup of its
/// own.
Result<void> update_container(Container& container, const UpdateRequest& request, const Warn& warn);

}  // namespace ocirun::runtime
