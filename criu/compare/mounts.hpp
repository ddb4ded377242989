#pragma once

#include <span>
#include <string>

#include "bundle/config/config.hpp"
#include "criu/images/images.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// What the mounts are compared with, and where.
struct MountExpectation {
  const bundle::Config& config;
  const linux::Procfs& procfs;  // the runtime's
  int init = 0;
  std::span<const int> pids;           // the processes in init's mount namespace
  std::span<const int> nested;         // a process of each other mount namespace
  const std::string& cgroup;           // the path of the container's cgroup, "" for none
  std::span<const ImageMount> images;  // the mounts of the images
};

/// Compares the mounts of a restored init with the document. Looks from the root of init's mount
/// namespace, because images choose the root of each process. That root is the document's. It is
/// also the root of the processes `pids` if they have no CAP_SYS_CHROOT. Masked files and
/// directories are covered; read-only paths and a read-only root are read-only. A container without
/// CAP_SYS_ADMIN cannot mount: it has exactly the mounts of the document, with their types,
/// sources, id maps and the options ro, nosuid, nodev and noexec. Hierarchies show nothing above
/// `cgroup`. A container with CAP_SYS_ADMIN may have mounted, also in mount namespaces of its own:
/// only the root, masked and read-only paths and compare_shown() are for it. Errors: a sentence
/// that names the mount.
Result<void> compare_mounts(const MountExpectation& wanted);

}  // namespace ocirun::runtime
