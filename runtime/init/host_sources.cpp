#include "runtime/init/host_sources.hpp"

#include <fcntl.h>

#include <algorithm>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/binds.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/mounts/place.hpp"
#include "linux/mounts/rootfs.hpp"
#include "linux/process/lsm.hpp"

namespace ocirun::runtime {
namespace {

Result<UniqueFd> open_isolated_bind(const bundle::Config& config, const linux::Procfs& procfs,
                                    const linux::Mount& mount, Fd rootfs) {
  OCIRUN_TRY_ASSIGN(const UniqueFd source, linux::open_bind_source(procfs, mount));
  OCIRUN_TRY_ASSIGN(const bool may_be_covered, linux::lies_below(procfs, source, rootfs));
  if (may_be_covered) return refuse("{} lies in the root filesystem", mount.source);
  OCIRUN_TRY_ASSIGN(UniqueFd tree, linux::clone_bind(mount, source));
  if (!linux::wants_early_open(mount))
    OCIRUN_TRY(linux::change_propagation(
        procfs, tree, linux::isolation_of(config.rootfs_propagation), linux::Recursion::kTree));
  return tree;
}

}  // namespace

Result<HostSources> open_host_sources(const bundle::Config& config, const linux::Procfs& procfs) {
  HostSources sources;
  sources.binds.resize(config.mounts.size());
  OCIRUN_TRY_ASSIGN(const UniqueFd rootfs,
                    linux::sys::open(config.root_path.c_str(), O_PATH | O_DIRECTORY));
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const linux::Mount& mount = config.mounts[index];
    if (!mount.bind || mount.remount) continue;
    OCIRUN_TRY_ASSIGN(sources.binds[index], open_isolated_bind(config, procfs, mount, rootfs));
  }
  if (!config.masked_paths.empty()) {
    OCIRUN_TRY_ASSIGN(sources.null_mount, linux::open_null_mount());
    OCIRUN_TRY(linux::change_propagation(procfs, sources.null_mount, linux::Propagation::kPrivate,
                                         linux::Recursion::kTop));
  }
  if (!config.mount_label.empty() && linux::selinux_enabled())
    sources.mount_label = config.mount_label;
  return sources;
}

}  // namespace ocirun::runtime
