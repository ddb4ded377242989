#pragma once

#include <cstdint>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "runtime/protocol/plans.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

/// What a child process needs to enter the mount namespace, and the user namespace, of a living
/// container.
class ContainerEntry {
 public:
  /// Opens the namespaces of init. `config` must outlive the result. Errors: init has ended, or has
  /// left the user namespace that config.json asks for: the kernel would then not lock the mounts
  /// that protect the host.
  static Result<ContainerEntry> find(const Container& container, const bundle::Config& config);

  const bundle::Config& config() const { return config_; }
  const linux::Procfs& procfs() const { return procfs_; }
  /// The container's user namespace; -1 without one.
  Fd user_namespace() const { return opened(linux::NamespaceKind::kUser); }
  /// The inode of the container's mount namespace.
  Result<std::uint64_t> mount_namespace() const;
  /// What a child must keep open for enter().
  std::vector<Fd> descriptors() const;
  /// Enters the namespaces with umask 0, and opens the container's root.
  Result<linux::SafeDir> enter() const;

 private:
  ContainerEntry(const bundle::Config& config, linux::Procfs procfs, ContainerNamespaces namespaces)
      : config_(config), procfs_(std::move(procfs)), namespaces_(std::move(namespaces)) {}
  Fd opened(linux::NamespaceKind kind) const;
  Result<void> check_user_namespace() const;

  const bundle::Config& config_;
  linux::Procfs procfs_;
  ContainerNamespaces namespaces_;
};

}  // namespace ocirun::runtime
