#include "runtime/init/root_namespace.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/binds.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/mount_point.hpp"
#include "linux/mounts/place.hpp"
#include "linux/mounts/rootfs.hpp"
#include "linux/process/lsm.hpp"
#include "runtime/protocol/plans.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

// Filesystems without a block device and without options that name files: overlay has such options.
constexpr std::array<std::string_view, 6> kNeedNoFile = {"proc",   "sysfs",  "tmpfs",
                                                         "devpts", "mqueue", "ramfs"};

bool fits(const bundle::Config& config, const linux::Mount& mount) {
  if (linux::clean_path(mount.destination.string()) == "/") return false;  // M-16
  if (mount.remount) return true;
  if (mount.bind)  // the parent makes id-mapped binds
    return !mount.is_id_mapped() && mount.propagation != linux::Propagation::kShared;
  if (mount.is_of_cgroups()) return config.namespaces.creates(NamespaceKind::kCgroup);
  return std::ranges::find(kNeedNoFile, mount.type) != kNeedNoFile.end();
}

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

bool fits_root_namespace(const bundle::Config& config) {
  const auto has_hooks = [&](hooks::Kind kind) { return !config.hooks.of(kind).empty(); };
  return config.namespaces.creates(NamespaceKind::kMount) &&
         !config.namespaces.contains(NamespaceKind::kUser) && !needs_stage(config) &&
         std::ranges::none_of(std::array{hooks::Kind::kPrestart, hooks::Kind::kCreateRuntime,
                                         hooks::Kind::kCreateContainer},
                              has_hooks) &&
         std::ranges::all_of(config.mounts,
                             [&](const linux::Mount& mount) { return fits(config, mount); });
}

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
