#pragma once

#include <functional>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/devices.hpp"

namespace ocirun::linux {

/// A device of the host that a running container is to get.
struct HostDevice {
  Device device;          // with the mode and the owner that it has on the host
  Result<UniqueFd> tree;  // its node as a detached mount, for kBindHostNode, or why there is none
};
/// `host` is the node's path in the caller's mount namespace, `path` its path in the container.
/// Errors: `host` is no device.
Result<HostDevice> open_host_device(const HostPath& host, RootfsPath path);

/// Makes and removes device nodes below the root of a running, possibly hostile container. No
/// symlink on the way to a node is followed, and no file that is not a device is touched. The
/// destructor undoes all changes unless keep() was called.
class NodeChanges {
 public:
  NodeChanges(const SafeDir& root, const Procfs& procfs, NodeSource source)
      : root_(root), procfs_(procfs), source_(source) {}
  NodeChanges(const NodeChanges&) = delete;
  NodeChanges& operator=(const NodeChanges&) = delete;
  ~NodeChanges();

  /// Makes the node and its missing parent directories (0755). Errors: ENOTDIR (a symlink is in the
  /// way); another file exists at the path.
  Result<void> add(const HostDevice& device);
  /// Removes the node at the device's path if it is the node of that device. If the container has
  /// put another file there, that file stays, and the result is false. Errors: ENOENT; ENOTDIR; the
  /// node cannot be removed.
  Result<bool> remove(const Device& device);
  void keep() { undo_.clear(); }

 private:
  enum class Missing { kIsMade, kIsAnError };
  Result<SafeDir::Entry> open_parent(const RootfsPath& path, Missing missing);
  Result<void> add_node(const HostDevice& device);
  Result<bool> remove_node(const Device& device);

  const SafeDir& root_;
  const Procfs& procfs_;
  NodeSource source_;
  // Each entry undoes one change, as far as the container allows it: what the container has changed
  // in its /dev meanwhile stays.
  std::vector<std::move_only_function<void()>> undo_;
};

}  // namespace ocirun::linux
