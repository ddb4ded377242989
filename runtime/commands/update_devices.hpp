#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/mounts/device_nodes.hpp"
#include "runtime/commands/container_child.hpp"
#include "runtime/commands/update.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

/// Changes device nodes in a container's mount namespace: begin() changes the nodes, keep() makes
/// the change final (ContainerChild).
class DeviceUpdate {
 public:
  /// Returns when the nodes were made and removed. Errors: those of the child; then no node was
  /// changed.
  static Result<DeviceUpdate> begin(const Container& container, const bundle::Config& config,
                                    const UpdateRequest& request);

  /// The device rules that belong to the nodes.
  const std::vector<cgroups::DeviceRule>& rules() const { return rules_; }
  /// The paths of nodes that could not be removed, because the container replaced or uses them; ""
  /// if all were removed.
  const std::string& left_nodes() const { return child_->told(); }
  void keep() { child_->keep(); }

 private:
  DeviceUpdate() = default;
  std::optional<ContainerChild> child_;  // set by begin()
  std::vector<cgroups::DeviceRule> rules_;
};

}  // namespace ocirun::runtime
