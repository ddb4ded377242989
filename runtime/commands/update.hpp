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

/// A device of the host's that a container is to get.
struct DeviceGrant {
  HostPath host;
  RootfsPath path;  // where its node is made in the container
  bool read = true, write = true, mknod = true;
};

/// What `update` is asked to change. What is not given stays as it is.
struct UpdateRequest {
  cgroups::Resources resources;  // of device rules a list that is not empty replaces the old one
  std::optional<std::string> l3_cache_schema, mem_bw_schema;
  std::vector<DeviceGrant> added_devices;    // a node, and a rule that allows it
  std::vector<DeviceGrant> removed_devices;  // a rule that denies it, and the node where it is one
};

/// Gets sentences that name fields by their JSON pointers, as errors do.
using Warn = std::function<void(const std::string& sentence)>;

/// Changes a container that runs, was created or is paused, all or nothing: limits, device rules,
/// device nodes, resctrl schemata, and what the state directory says of them. Errors: "container
/// not running"; pointers into linux.resources; a container without a cgroup of its own.
Result<void> update_container(Container& container, const UpdateRequest& request, const Warn& warn);

}  // namespace ocirun::runtime
