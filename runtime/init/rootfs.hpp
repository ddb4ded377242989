#pragma once

#include <optional>
#include <string>
#include <vector>

#include "linux/base/message_socket.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/rootfs.hpp"
#include "runtime/init/host_sources.hpp"
#include "runtime/protocol/plans.hpp"

namespace ocirun::runtime {

/// The container's root filesystem while init builds it. The steps are called in the order of their
/// declaration.
class RootfsBuild {
 public:
  Result<void> open_terminal(const bundle::Config& config, const linux::MessageSocket& parent);
  Result<void> finish_mounts();
  Result<void> change_root(const InitPlan& plan);
  Result<void> restrict_paths(const InitPlan& plan);

  const linux::Procfs& procfs() const { return *procfs_; }
  /// The container's root directory; valid until close().
  Fd directory() const { return root_->fd(); }
  /// Closes every descriptor.
  void close();

 private:
  RootfsBuild(linux::SafeDir root, linux::Procfs procfs)
      : root_(std::move(root)), procfs_(std::move(procfs)) {}

  static Result<RootfsBuild> begin(const InitPlan& plan, const linux::MessageSocket& parent);
  // Builds the root filesystem in plan.root_namespace. If something does not work there, init goes
  // back to the host's mount namespace, and the result is empty.
  static Result<std::optional<RootfsBuild>> try_root_namespace(const InitPlan& plan,
                                                               const linux::MessageSocket& parent);
  static Result<RootfsBuild> begin_in_root_namespace(const InitPlan& plan, linux::Procfs procfs,
                                                     HostSources sources);
  Result<void> fill(const InitPlan& plan, const linux::MessageSocket& parent);
  Result<void> attach_mounts(const InitPlan& plan, const linux::MessageSocket& parent);
  Result<void> make_devices(const bundle::Config& config);

  friend Result<RootfsBuild> build_rootfs(const InitPlan& plan, const linux::MessageSocket& parent);

  bool in_root_namespace_ = false;  // where init sees nothing of the host
  std::optional<linux::SafeDir> root_;
  std::optional<linux::Procfs> procfs_;
  std::vector<UniqueFd> early_;  // for each mount of config.json: the clone of a bind that was made
                                 // before the host was out of sight, or the mount tree isolated
  std::string mount_label_;      // "" where SELinux is off
  UniqueFd null_mount_;          // the verified /dev/null, to cover masked files
  std::vector<linux::UnfinishedMount> unfinished_;
};

/// Isolates the mount tree, makes the rootfs a mount of its own, opens a procfs that nothing can
/// cover, and makes the mounts and the devices of the container. If `plan` has a root namespace,
/// and something does not work there, all this is done again in a copy of the host's mount
/// namespace: sources that an earlier mount of the container contains exist only in such a copy.
Result<RootfsBuild> build_rootfs(const InitPlan& plan, const linux::MessageSocket& parent);

}  // namespace ocirun::runtime
