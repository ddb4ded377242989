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

/// A device of the host's for a container that runs already.
struct HostDevice {
  Device device;          // with the mode and the owner that it has on the host
  Result<UniqueFd> tree;  // its node as a detached mount, for kBindHostNode, or why there is none
};
/// `host` as the caller sees it, `path` in the container. Errors: it is no device.
Result<HostDevice> open_host_device(const HostPath& host, RootfsPath path);

/// Nodes made and removed below the root of a container that runs and may be hostile: no symlink
/// on the way to one is followed, and what is no device is not touched. All of it is undone when
/// this object goes without keep().
class NodeChanges {
 public:
  NodeChanges(const SafeDir& root, const Procfs& procfs, NodeSource source)
      : root_(root), procfs_(procfs), source_(source) {}
  NodeChanges(const NodeChanges&) = delete;
  NodeChanges& operator=(const NodeChanges&) = delete;
  ~NodeChanges();

  /// Missing parent directories are made (0755). Errors: ENOTDIR (a symlink is in the way),
  /// something else is there.
  Result<void> add(const HostDevice& device);
  /// The node at the device's path, if it is that device's: what a container has put in its place
  /// stays, and false is returned. Errors: ENOENT; ENOTDIR; it cannot be removed.
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
  // What takes each change back, as far as the container lets us: what it did to its /dev meanwhile
  // stays.
  std::vector<std::move_only_function<void()>> undo_;
};

}  // namespace ocirun::linux
