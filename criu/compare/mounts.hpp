#pragma once

#include <span>
#include <string>

#include "bundle/config/config.hpp"
#include "criu/dump/images.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// The input of compare_mounts().
struct MountExpectation {
  const bundle::Config& config;
  const linux::Procfs& procfs;         // the runtime's
  int init = 0;                        // pid of the restored init
  std::span<const int> pids;           // the processes in init's mount namespace
  std::span<const int> nested;         // a process of each other mount namespace
  const std::string& cgroup;           // the path of the container's cgroup, "" for none
  std::span<const ImageMount> images;  // the mounts of the images
};

/// Compares the mounts of a restored container with config.json. The images may be forged, and CRIU
/// has mounted what they say.
///
/// Paths are looked up from the root of init's mount namespace. The root directory of a process
/// would not do: the images choose it.
///
/// Compared for every container:
/// - the root of the mount namespace is root.path of config.json;
/// - without CAP_SYS_CHROOT, each process of `pids` has this root directory;
/// - each masked path is covered by the null device or a read-only tmpfs;
/// - read-only paths, and the root if root.readonly is set, are read-only;
/// - compare_shown(): no mount shows more of the host than config.json gives. This holds in init's
///   mount namespace and in those that the container has made (`nested`).
///
/// Compared without CAP_SYS_ADMIN, because such a container cannot have changed its mounts: there
/// are the mounts of config.json and no other. Each has the type, the source, the id map, and the
/// options ro, nosuid, nodev and noexec of its entry. A mounted cgroup hierarchy shows `cgroup` and
/// what is below, nothing above.
///
/// Errors: a sentence that names the mount.
Result<void> compare_mounts(const MountExpectation& wanted);

}  // namespace ocirun::runtime
