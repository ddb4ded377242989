#pragma once

#include <span>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/mounts/device_nodes.hpp"
#include "linux/process/clone.hpp"
#include "runtime/commands/update.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

/// Changes device nodes in a container's mount namespace, in two steps: begin() changes the nodes,
/// keep() makes the change final. A child process in the mount namespace does the work. If the
/// socket to the child is closed without keep(), also because this process died, the child restores
/// the nodes. A child that waits for a file system of the container is killed after ten seconds.
class DeviceUpdate {
 public:
  /// Returns when the nodes were made and removed. Errors: those of the child; then no node was
  /// changed.
  static Result<DeviceUpdate> begin(const Container& container, const bundle::Config& config,
                                    const UpdateRequest& request);
  DeviceUpdate(DeviceUpdate&& other) noexcept
      : socket_(std::move(other.socket_)),
        child_(std::exchange(other.child_, {})),
        is_stuck_(other.is_stuck_),
        rules_(std::move(other.rules_)),
        left_nodes_(std::move(other.left_nodes_)) {}
  DeviceUpdate& operator=(DeviceUpdate&&) = delete;
  ~DeviceUpdate();

  /// The device rules that belong to the nodes.
  const std::vector<cgroups::DeviceRule>& rules() const { return rules_; }
  /// The paths of nodes that could not be removed, because the container replaced or uses them; ""
  /// if all were removed.
  const std::string& left_nodes() const { return left_nodes_; }
  void keep();

 private:
  DeviceUpdate() = default;
  linux::MessageSocket socket_;
  linux::Child child_;
  bool is_stuck_ = false;  // the child waits for a file system that does not answer
  std::vector<cgroups::DeviceRule> rules_;
  std::string left_nodes_;
};

}  // namespace ocirun::runtime
