#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/detached_mount.hpp"

namespace ocirun::runtime {

// CRIU mounts and makes files by paths of the images while its root is the host's. A ".." in an
// image, or a symlink in the root file system of a hostile container, leads such a path from the
// container's tree to the host, before anything of the container can be compared. So the host is
// read-only in CRIU's mount namespace, but for the trees that a restore has to write to.

/// Whether the kernel has mount_setattr(2), which came with Linux 5.12.
bool can_make_host_read_only();

/// To be used in CRIU's own mount namespace.
class ReadOnlyHost {
 public:
  /// Keeps the mount that `path` leads to writable from `path` down; with kTree also the mounts
  /// below. Errors: those of open(2).
  Result<void> except(const HostPath& path, linux::Recursion recursion);
  /// Makes all other mounts read-only. procfs and sysfs stay as they are: CRIU writes to procfs,
  /// and a user namespace may mount a new one only where it sees one that is as writable. CRIU
  /// makes directories in /tmp. So a tmpfs covers /tmp. It shows only exceptions, and those of the
  /// absolute paths `needed` that lie below /tmp. If a symlink is a part of such a path, /tmp stays
  /// writable instead.
  Result<void> close(const linux::Procfs& procfs, std::span<const std::string> needed);

 private:
  struct Tree {
    std::string path;  // without symlinks
    UniqueFd place;
    linux::DetachedMount mount;
  };
  Result<bool> can_cover(const std::string& temporary) const;
  Result<void> add_needed(const std::string& temporary, std::span<const std::string> needed);
  Result<void> cover(Fd temporary, const std::string& path);
  Result<void> attach(const Tree& tree) const;

  std::vector<Tree> trees_;
  std::vector<std::string> given_;  // the paths of the callers
  std::optional<dev_t> tmpfs_;      // which covers /tmp
};

}  // namespace ocirun::runtime
