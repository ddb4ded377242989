#include "runtime/compare/host_files.hpp"

#include <fcntl.h>

#include <algorithm>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/bind_source.hpp"
#include "runtime/compare/outside_mounts.hpp"

namespace ocirun::runtime {
namespace {

using linux::Propagation;
using linux::Recursion;

bool hears(Propagation propagation) {
  return propagation == Propagation::kSlave || propagation == Propagation::kShared;
}

/// The walk over the document.
class Opening {
 public:
  Opening(const bundle::Config& config, const linux::Procfs& procfs, HostFiles& files)
      : config_(config), procfs_(procfs), files_(files) {}

  Result<void> run() {
    TRY_ASSIGN(files_.rootfs, linux::sys::open(config_.root_path.c_str(), O_PATH | O_DIRECTORY));
    TRY(files_.mounts.allow(procfs_, files_.rootfs, Recursion::kTree,
                            events_of(Propagation::kUnchanged)));
    TRY(allow_nodes());
    files_.sources.resize(config_.mounts.size());
    for (std::size_t index = 0; index < config_.mounts.size(); ++index)
      TRY(within(open_source(index), fmt::format("/mounts/{}", index)));
    return {};
  }

 private:
  // With such a propagation of the root, all binds are slaves of their sources.
  MountEvents events_of(Propagation propagation) const {
    return hears(propagation) || hears(config_.rootfs_propagation) ? MountEvents::kFromHost
                                                                   : MountEvents::kPrivate;
  }

  // The masks, and in a user namespace the devices, are files of the host.
  Result<void> allow_nodes() {
    for (const OutsideMount& outside : outside_mounts(config_, {})) {
      if (outside.kind == OutsideMount::Kind::kBind) continue;
      const auto node = linux::sys::open(outside.source.c_str(), O_PATH);
      if (node) TRY(files_.mounts.allow(procfs_, *node, Recursion::kTop, MountEvents::kPrivate));
    }
    return {};
  }

  Result<void> open_source(std::size_t index) {
    const linux::Mount& mount = config_.mounts[index];
    if (!mount.bind) return allow_disk(mount);
    if (mount.remount) return {};
    TRY_ASSIGN(files_.sources[index], linux::open_bind_source(procfs_, mount));
    return files_.mounts.allow(procfs_, files_.sources[index],
                               mount.recursive ? Recursion::kTree : Recursion::kTop,
                               events_of(mount.propagation));
  }

  Result<void> allow_disk(const linux::Mount& mount) {
    if (!mount.source.starts_with('/')) return {};
    const auto disk = linux::sys::open(mount.source.c_str(), O_PATH);
    if (!disk) return {};
    TRY_ASSIGN(const struct stat status, linux::sys::fstat(*disk));
    if (S_ISBLK(status.st_mode)) files_.mounts.allow_device(status.st_rdev);
    return {};
  }

  const bundle::Config& config_;
  const linux::Procfs& procfs_;
  HostFiles& files_;
};

}  // namespace

Result<HostFiles> open_host_files(const bundle::Config& config, const linux::Procfs& procfs,
                                  Fd images) {
  TRY_ASSIGN(HostMounts mounts, HostMounts::read(procfs));
  HostFiles files{.rootfs = {}, .sources = {}, .images = {}, .mounts = std::move(mounts)};
  TRY(Opening(config, procfs, files).run());
  const bool is_id_mapped = std::ranges::any_of(config.mounts, [](const linux::Mount& mount) {
    return mount.bind && !mount.remount && mount.id_map_kind != linux::IdMapKind::kNone;
  });
  if (is_id_mapped) {
    TRY_ASSIGN(files.images, read_all_mounts(images));
  }
  return files;
}

}  // namespace ocirun::runtime
