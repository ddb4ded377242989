#include "runtime/protocol/root_rules.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "linux/mounts/mount.hpp"
#include "linux/mounts/place.hpp"
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

bool covers_dev(const linux::Mount& mount) {
  return mount.bind && linux::is_dev_directory(linux::clean_path(mount.destination.string()));
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

bool brings_own_dev(const bundle::Config& config) {
  return std::ranges::any_of(config.mounts, covers_dev);
}

}  // namespace ocirun::runtime
