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

/// Device nodes that are being changed in a container's mount namespace, by a child that lives
/// there until keep(). It takes its changes back when it hears nothing: also when we die. A child
/// that a filesystem of the container's holds up is killed after ten seconds.
class DeviceUpdate {
 public:
  /// The nodes are there, or gone, when it returns. Errors: the child's; nothing is changed then.
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

  /// What has to be allowed and denied with them.
  const std::vector<cgroups::DeviceRule>& rules() const { return rules_; }
  /// Paths of nodes that should have gone and that the container has replaced or holds; "" if none.
  const std::string& left_nodes() const { return left_nodes_; }
  void keep();

 private:
  DeviceUpdate() = default;
  linux::MessageSocket socket_;
  linux::Child child_;
  bool is_stuck_ = false;  // the child, in a filesystem that does not answer
  std::vector<cgroups::DeviceRule> rules_;
  std::string left_nodes_;
};

}  // namespace ocirun::runtime
