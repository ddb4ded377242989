#include "criu/request/prepared_sources.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "criu/request/outside.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/binds.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

Result<UniqueFd> open_id_map(const linux::Mount& mount, const bundle::Config& config,
                             const linux::Procfs& procfs) {
  if (!mount.is_id_mapped()) return UniqueFd();
  return linux::make_user_namespace(procfs.fd(),
                                    mount.id_map.empty() ? config.id_map : mount.id_map);
}

// A clone of the bind's source, with all attributes of the mount.
Result<UniqueFd> clone_source(const linux::Mount& mount, const bundle::Config& config,
                              const linux::Procfs& procfs) {
  OCIRUN_TRY_ASSIGN(const UniqueFd id_map, open_id_map(mount, config, procfs));
  OCIRUN_TRY_ASSIGN(UniqueFd tree, id_map ? linux::open_id_mapped_bind(procfs, mount, id_map)
                                          : linux::open_bind(procfs, mount));
  OCIRUN_TRY(linux::set_attributes_of(procfs, tree, mount));
  return tree;
}

Result<UniqueFd> clone_node(Fd node) {
  OCIRUN_TRY_ASSIGN(linux::DetachedMount clone,
                    linux::DetachedMount::clone_of(node, linux::Recursion::kTop));
  OCIRUN_TRY(linux::set_mount_attributes(clone.fd(), linux::kHostNode, linux::Recursion::kTop));
  return std::move(clone).release();
}

Result<UniqueFd> open_source(const OutsideMount& mount, const bundle::Config& config,
                             const linux::Procfs& procfs) {
  switch (mount.kind) {
    case OutsideMount::Kind::kBind:
      return clone_source(*mount.mount, config, procfs);
    case OutsideMount::Kind::kCgroup: {
      OCIRUN_TRY_ASSIGN(const UniqueFd own,
                        linux::sys::open(mount.source.c_str(), O_PATH | O_DIRECTORY));
      OCIRUN_TRY_ASSIGN(linux::DetachedMount clone,
                        linux::DetachedMount::clone_of(own, linux::Recursion::kTop));
      OCIRUN_TRY(linux::set_attributes_of(procfs, clone.fd(), *mount.mount));
      return std::move(clone).release();
    }
    case OutsideMount::Kind::kDevice: {
      OCIRUN_TRY_ASSIGN(const UniqueFd node, linux::open_host_node(*mount.device));
      return clone_node(node);
    }
    case OutsideMount::Kind::kMask:
      break;
  }
  OCIRUN_TRY_ASSIGN(const UniqueFd null, linux::open_verified_null());
  return clone_node(null);
}

Result<void> attach_source(Fd place, const std::string& name, Fd source) {
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(source));
  UniqueFd point;
  if (S_ISDIR(status.st_mode)) {
    OCIRUN_TRY(linux::sys::mkdirat(place, name.c_str(), 0755));
    OCIRUN_TRY_ASSIGN(point,
                      linux::sys::openat(place, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
  } else {
    OCIRUN_TRY_ASSIGN(point, linux::sys::openat(place, name.c_str(),
                                                O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  }
  return linux::sys::move_mount(source, point);
}

bool is_searched_by_all(const std::string& path) {
  const auto directory = linux::sys::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  const auto status = directory ? linux::sys::fstat(*directory) : fail(ENOENT, "open");
  return status && (status->st_mode & S_IXOTH) != 0;
}

}  // namespace

bool needs_prepared_sources(const bundle::Config& config) {
  return config.namespaces.contains(NamespaceKind::kUser) ||
         std::ranges::any_of(config.mounts,
                             [](const linux::Mount& mount) { return mount.is_id_mapped(); });
}

Result<std::string> place_for_sources(std::span<const std::string> paths) {
  const std::array places{linux::dev_path("shm").string(), std::string("/mnt"),
                          std::string("/media"), std::string("/srv")};
  for (const std::string& place : places) {
    const bool is_needed = std::ranges::any_of(
        paths, [&](const std::string& path) { return linux::is_at_or_below(path, place); });
    if (!is_needed && is_searched_by_all(place)) return place;
  }
  return refuse(
      "criu needs a directory over which ocirun can mount what the container has from the host: "
      "one of {} has to exist and must hold neither the bundle nor the images",
      fmt::join(places, ", "));
}

Result<PreparedSources> PreparedSources::open(std::span<const OutsideMount> mounts,
                                              const bundle::Config& config,
                                              const linux::Procfs& procfs) {
  PreparedSources prepared;
  for (const OutsideMount& mount : mounts) {
    OCIRUN_TRY_ASSIGN(UniqueFd tree, within(open_source(mount, config, procfs),
                                            "prepare the mount on {}", mount.name));
    prepared.sources_.push_back({.destination = mount.name, .tree = std::move(tree)});
  }
  return prepared;
}

Result<void> PreparedSources::attach(const std::string& place) const {
  OCIRUN_TRY_ASSIGN(const linux::DetachedMount tmpfs,
                    linux::DetachedMount::of_tmpfs(
                        "0755", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
  OCIRUN_TRY_ASSIGN(const UniqueFd point, linux::sys::open(place.c_str(), O_PATH | O_DIRECTORY));
  OCIRUN_TRY(tmpfs.attach(point));
  for (std::size_t i = 0; i < sources_.size(); ++i)
    OCIRUN_TRY(within(attach_source(tmpfs.fd(), fmt::format("{}", i), sources_[i].tree),
                      "prepare the mount on {}", sources_[i].destination));
  return {};
}

}  // namespace ocirun::runtime
