#include "runtime/checkpoint/prepared_sources.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "linux/base/directory_entries.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/copy_up.hpp"
#include "linux/mounts/bind_source.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/mounts/locked_bind.hpp"
#include "linux/mounts/mount.hpp"
#include "runtime/checkpoint/images.hpp"
#include "runtime/checkpoint/mount_table.hpp"
#include "runtime/checkpoint/outside.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

Result<UniqueFd> make_tmpfs(const char* mode) {
  TRY_ASSIGN(linux::DetachedMount tmpfs,
             linux::DetachedMount::of_filesystem({.type = "tmpfs",
                                                  .source = "tmpfs",
                                                  .superblock_flags = 0,
                                                  .superblock_clear = 0,
                                                  .selinux_context = "",
                                                  .data = {mode}},
                                                 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  return std::move(tmpfs).release();
}

Result<UniqueFd> open_id_map(const linux::Mount& mount, const bundle::Config& config,
                             const linux::Procfs& procfs) {
  if (mount.id_map_kind == linux::IdMapKind::kNone) return UniqueFd();
  return linux::make_user_namespace(procfs.fd(),
                                    mount.id_map.empty() ? config.id_map : mount.id_map);
}

// A clone of the bind's source, with all attributes of the mount.
Result<UniqueFd> clone_source(const linux::Mount& mount, const bundle::Config& config,
                              const linux::Procfs& procfs) {
  TRY_ASSIGN(const UniqueFd id_map, open_id_map(mount, config, procfs));
  TRY_ASSIGN(UniqueFd tree, id_map ? linux::open_id_mapped_bind(procfs, mount, id_map)
                                   : linux::open_bind(procfs, mount));
  TRY(linux::set_attributes_of(procfs, tree, mount));
  return tree;
}

Result<UniqueFd> clone_node(Fd node) {
  TRY_ASSIGN(linux::DetachedMount clone,
             linux::DetachedMount::clone_of(node, linux::Recursion::kTop));
  TRY(linux::set_mount_attributes(clone.fd(), linux::kHostNode, linux::Recursion::kTop));
  return std::move(clone).release();
}

Result<UniqueFd> open_source(const OutsideMount& mount, const bundle::Config& config,
                             const linux::Procfs& procfs) {
  switch (mount.kind) {
    case OutsideMount::Kind::kBind:
      return clone_source(*mount.bind, config, procfs);
    case OutsideMount::Kind::kDevice: {
      TRY_ASSIGN(const UniqueFd node, linux::open_host_node(*mount.device));
      return clone_node(node);
    }
    case OutsideMount::Kind::kMask:
      break;
  }
  TRY_ASSIGN(const UniqueFd null, linux::open_verified_null());
  return clone_node(null);
}

Result<void> attach_source(Fd place, const std::string& name, Fd source) {
  TRY_ASSIGN(const struct stat status, linux::sys::fstat(source));
  UniqueFd point;
  if (S_ISDIR(status.st_mode)) {
    TRY(linux::sys::mkdirat(place, name.c_str(), 0755));
    TRY_ASSIGN(point, linux::sys::openat(place, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
  } else {
    TRY_ASSIGN(point, linux::sys::openat(place, name.c_str(),
                                         O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
  }
  return linux::sys::move_mount(source, point);
}

bool is_searched_by_all(const std::string& path) {
  const auto directory = linux::sys::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
  const auto status = directory ? linux::sys::fstat(*directory) : fail(ENOENT, "open");
  return status && (status->st_mode & S_IXOTH) != 0;
}

struct Owner {
  std::uint32_t uid = 0, gid = 0;
};

// EINVAL: the file system has no id-mapped mounts. ENOSYS: the kernel has none.
Result<UniqueFd> id_map_images(Fd images, Owner owner, const linux::Procfs& procfs) {
  TRY_ASSIGN(const linux::DetachedMount clone,
             linux::DetachedMount::clone_of(images, linux::Recursion::kTop));
  const linux::IdMap map{.uids = {{.container_id = ::geteuid(), .host_id = owner.uid, .size = 1}},
                         .gids = {{.container_id = ::getegid(), .host_id = owner.gid, .size = 1}}};
  TRY_ASSIGN(const UniqueFd user_namespace, linux::make_user_namespace(procfs.fd(), map));
  mount_attr wanted{};
  wanted.attr_set = MOUNT_ATTR_IDMAP;
  wanted.userns_fd = static_cast<unsigned long long>(user_namespace.get());
  TRY(linux::sys::mount_setattr(clone.fd(), 0, wanted));
  return linux::sys::openat(clone.fd(), ".", O_RDONLY | O_DIRECTORY);
}

// CRIU's process in the user namespace opens the image of the time namespace, and it may do so
// before the namespace has maps: it has no rights over files of `user` then. Its group is still
// that of ocirun, which gets the rights of the owner.
Result<void> give_to_user(Fd file, std::uint32_t user) {
  TRY_ASSIGN(const struct stat status, linux::sys::fstat(file));
  TRY(linux::sys::fchown(file, user, ::getegid()));
  if (S_ISLNK(status.st_mode)) return {};
  const mode_t own = status.st_mode & 0700;
  return linux::sys::fchmod(file, own | (own >> 3));
}

Result<void> give_away(Fd directory, std::uint32_t user) {
  TRY(linux::for_each_entry(directory, [&](const char* name, unsigned char) -> Result<void> {
    TRY_ASSIGN(const UniqueFd file, linux::sys::openat(directory, name, O_PATH | O_NOFOLLOW));
    return give_to_user(file, user);
  }));
  return give_to_user(directory, user);
}

// Copies the images and, instead of their link to the images of the pre-dump before, those images.
Result<UniqueFd> copy_images(Fd images, std::uint32_t user) {
  TRY_ASSIGN(const UniqueFd tmpfs, make_tmpfs("mode=0700"));
  TRY_ASSIGN(UniqueFd to, linux::sys::openat(tmpfs, ".", O_RDONLY | O_DIRECTORY));
  TRY_ASSIGN(UniqueFd from, linux::sys::openat(images, ".", O_RDONLY | O_DIRECTORY));
  for (int count = 0; count < kMostParents; ++count) {
    TRY(linux::copy_up(from, to));
    TRY(give_away(to, user));
    auto parent = linux::sys::openat(from, kParentLink, O_RDONLY | O_DIRECTORY);
    if (!parent && parent.error().number() == ENOENT)
      return linux::sys::openat(tmpfs, ".", O_RDONLY | O_DIRECTORY);
    if (!parent) return std::unexpected(std::move(parent).error());
    TRY(linux::sys::unlinkat(to, kParentLink, 0));
    TRY(linux::sys::mkdirat(to, kParentLink, 0700));
    TRY_ASSIGN(to, linux::sys::openat(to, kParentLink, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    from = *std::move(parent);
  }
  return refuse("the links named parent lead to more than {} directories", kMostParents);
}

}  // namespace

bool wants_prepared_sources(const bundle::Config& config) {
  return config.namespaces.contains(NamespaceKind::kUser) ||
         std::ranges::any_of(config.mounts, [](const linux::Mount& mount) {
           return mount.id_map_kind != linux::IdMapKind::kNone;
         });
}

Result<std::string> place_for_sources(std::span<const std::string> paths) {
  const std::array places{linux::dev_path("shm").string(), std::string("/mnt"),
                          std::string("/media"), std::string("/srv")};
  for (const std::string& place : places) {
    const bool is_needed = std::ranges::any_of(
        paths, [&](const std::string& path) { return lies_below(path, place); });
    if (!is_needed && is_searched_by_all(place)) return place;
  }
  return refuse(
      "criu needs a directory over which ocirun can mount what the container has from the host: "
      "one of {} has to exist and must hold neither the bundle nor the images nor a source of a "
      "mount",
      fmt::join(places, ", "));
}

Result<void> prepare_sources(const std::string& place, const bundle::Config& config,
                             const linux::Procfs& procfs) {
  const std::vector<OutsideMount> mounts = outside_mounts(config);
  std::vector<UniqueFd> sources;  // all are opened before `place` is covered
  for (const OutsideMount& mount : mounts) {
    auto source = open_source(mount, config, procfs);
    if (!source)
      return within(Result<void>(std::unexpected(source.error())),
                    fmt::format("prepare the mount on {}", mount.name));
    sources.push_back(*std::move(source));
  }
  TRY_ASSIGN(const UniqueFd tmpfs, make_tmpfs("mode=0755"));
  TRY_ASSIGN(const UniqueFd point, linux::sys::open(place.c_str(), O_PATH | O_DIRECTORY));
  TRY(linux::sys::move_mount(tmpfs, point));
  for (std::size_t i = 0; i < sources.size(); ++i)
    TRY(within(attach_source(tmpfs, fmt::format("{}", i), sources[i]),
               fmt::format("prepare the mount on {}", mounts[i].name)));
  return {};
}

Result<UniqueFd> show_images(Fd images, const linux::IdMap& id_map, const linux::Procfs& procfs) {
  const auto uid = id_map.host_uid(Uid{});
  const auto gid = id_map.host_gid(Gid{});
  if (!uid || !gid) return refuse("the user namespace has no user 0 or no group 0");
  const Owner owner{.uid = *uid, .gid = *gid};
  // The link to the images of an earlier pre-dump leads out of an id-mapped directory.
  if (!linux::sys::fstatat(images, kParentLink)) {
    auto mapped = id_map_images(images, owner, procfs);
    if (mapped || (mapped.error().number() != EINVAL && mapped.error().number() != ENOSYS &&
                   mapped.error().number() != EPERM))
      return mapped;
  }
  return within(copy_images(images, owner.uid),
                "copy the images for root of the container's user namespace");
}

}  // namespace ocirun::runtime
