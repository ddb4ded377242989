#include "criu/compare/binds.hpp"

#include <fcntl.h>
#include <linux/openat2.h>

#include <algorithm>

#include "criu/compare/container_root.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::uint32_t kOverflow = 65'534;  // the kernel shows this id for an unmapped id

using linux::clean;

// The map of an id-mapped mount: its own map, or else the map of the container.
const linux::IdMap& map_of(const bundle::Config& config, const linux::Mount& mount) {
  return mount.id_map.empty() ? config.id_map : mount.id_map;
}

Result<bool> shows_owner(Fd shown, Fd stored, const linux::IdMap* map) {
  OCIRUN_TRY_ASSIGN(const struct stat there, linux::sys::fstat(shown));
  OCIRUN_TRY_ASSIGN(const struct stat here, linux::sys::fstat(stored));
  if (map == nullptr) return there.st_uid == here.st_uid && there.st_gid == here.st_gid;
  const auto uid = Uid::make(here.st_uid);
  const auto gid = Gid::make(here.st_gid);
  return uid && gid && map->host_uid(*uid).value_or(kOverflow) == there.st_uid &&
         map->host_gid(*gid).value_or(kOverflow) == there.st_gid;
}

// Checks that the images mount the bind with the name `name` on `path` and nowhere else, and that
// the images mount nothing else on `path`.
Result<void> check_place(std::span<const ImageMount> images, const std::string& name,
                         const std::string& path) {
  bool is_there = false;
  for (const ImageMount& mount : images) {
    if (mount.point != linux::clean_path(mount.point))
      return refuse("the images have a mount on \"{}\", which is no plain path",
                    linux::in_one_line(mount.point));
    if ((mount.external == name) != (mount.point == path))
      return refuse("the images mount \"{}\" on {}", linux::in_one_line(mount.external),
                    linux::in_one_line(mount.point));
    is_there = is_there || mount.point == path;
  }
  return is_there ? Result<void>{} : refuse("the images have no mount on {}", path);
}

// The attributes that the document gives to the mounts below the destination of a bind.
std::uint64_t flags_below(const bundle::Config& config, std::size_t index) {
  const std::string path = clean(config.mounts[index].destination);
  std::uint64_t flags = 0;
  for (const linux::Mount& mount : std::span(config.mounts).subspan(index)) {
    if (clean(mount.destination) != path) continue;
    flags &= ~mount.recursive_attributes.clear;
    flags |= mount.recursive_attributes.set;
  }
  return flags;
}

}  // namespace

Result<void> BindComparison::compare(const FoundFile& found, std::size_t index) const {
  const linux::Mount& mount = config.mounts[index];
  const std::string path = clean(mount.destination);
  OCIRUN_TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(found.file, sources[index]));
  if (!is_same)
    return refuse("{} does not show {}, which config.json binds there", path, mount.source);
  const bool is_wanted = mount.is_id_mapped();
  if (found.is_id_mapped != is_wanted)
    return refuse("{} is {}id-mapped", path, found.is_id_mapped ? "" : "not ");
  if (!is_wanted) return {};
  OCIRUN_TRY_ASSIGN(const bool is_ours,
                    shows_owner(found.file, sources[index], &map_of(config, mount)));
  if (!is_ours) return refuse("{} has another id map", path);
  if (found.mounts_on_path != 1) return refuse("{} is covered by another mount", path);
  return within(check_place(images, path, found.path), "{} has another id map", path);
}

Result<void> BindComparison::compare_below(const std::string& point) const {
  OCIRUN_TRY_ASSIGN(const auto found, root.find(RootfsPath(point)));
  for (std::size_t index = 0; index < config.mounts.size(); ++index) {
    const linux::Mount& mount = config.mounts[index];
    if (!sources[index] || !mount.recursive || !found) continue;
    OCIRUN_TRY_ASSIGN(const auto top, root.find(mount.destination));
    if (!top || top->path == found->path || !linux::is_at_or_below(found->path, top->path))
      continue;
    const auto source =
        linux::sys::openat2(sources[index], found->path.substr(top->path.size() + 1).c_str(),
                            O_PATH, RESOLVE_NO_SYMLINKS);
    if (!source) continue;
    OCIRUN_TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(found->file, *source));
    if (!is_same) continue;
    const bool is_mapped = mount.id_map_kind == linux::IdMapKind::kRecursive;
    OCIRUN_TRY_ASSIGN(
        const bool is_ours,
        shows_owner(found->file, *source, is_mapped ? &map_of(config, mount) : nullptr));
    OCIRUN_TRY_ASSIGN(const std::uint64_t hosts, linux::mount_of(procfs, *source));
    if (!is_ours || found->is_id_mapped != (is_mapped || host.is_id_mapped(hosts)))
      return refuse("{} has another id map", point);
    OCIRUN_TRY_ASSIGN(const auto filesystem, linux::sys::fstatfs(*source));
    return check_mount_flags(
        found->file, (filesystem.flags | flags_below(config, index)) & kComparedFlags, point);
  }
  return refuse("what is mounted on {} is not mounted below the source of a recursive bind", point);
}

}  // namespace ocirun::runtime
