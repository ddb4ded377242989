#pragma once

#include <span>
#include <string>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// Compares the mounts of a restored init with the document. Looks from the root of init's mount
/// namespace, because images choose the root of each process. That root is the document's. It is
/// also the root of the processes `pids`, all in this namespace, if they have no CAP_SYS_CHROOT.
/// Masked files and directories are covered; read-only paths and a read-only root are read-only. A
/// container without CAP_SYS_ADMIN cannot mount: it has exactly the mounts of the document, with
/// their types, sources and the options ro, nosuid, nodev and noexec. Hierarchies show nothing
/// above `cgroup`, the path of the container's cgroup, "" for none. Errors: a sentence that names
/// the mount.
Result<void> compare_mounts(const bundle::Config& config, const linux::Procfs& procfs, int init,
                            std::span<const int> pids, const std::string& cgroup);

}  // namespace ocirun::runtime
