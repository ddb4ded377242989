#include "pods/prepare/prepare.hpp"

#include <fcntl.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/mounts/mount_point.hpp"
#include "pods/prepare/mounted_places.hpp"

namespace ocirun::pods {
namespace {

enum class Form : std::uint8_t { kFile, kDirectory };

std::string_view name_of(Form form) { return form == Form::kFile ? "file" : "directory"; }

/// The mounts of the plan; nullptr: an empty directory in memory.
using Places = MountedPlaces<const BoundPath*>;

Places places_of(const BundlePlan& plan) {
  Places places;
  for (const BoundPath& bound : plan.bound) places.add(bound.destination, &bound);
  for (const MemoryDirectory& directory : plan.in_memory)
    places.add(directory.destination, nullptr);
  return places;
}

Result<void> check_path(const std::string& path, Form form, const Places& places,
                        const linux::SafeDir& root) {
  if (linux::is_at_or_below(path, "/proc"))
    return refuse("nothing can be mounted at {}: /proc is the kernel's", path);
  for (const char* kernels : {"/dev", "/sys"})
    if (linux::is_at_or_below(path, kernels)) return {};
  const Places::Found above = places.above(path);
  const BoundPath* bound = above.mounted == nullptr ? nullptr : *above.mounted;
  if (above.mounted != nullptr && bound == nullptr) return {};
  std::optional<linux::SafeDir> volume;
  if (bound != nullptr) {
    auto opened = linux::SafeDir::open_root(HostPath(bound->source));
    if (!opened && opened.error().number() == ENOENT) return {};  // a part, shown at the start
    if (!opened && opened.error().number() == ENOTDIR)
      return refuse("a part of the path {} is a file of the volume at {}", path,
                    bound->destination);
    OCIRUN_TRY_ASSIGN(volume, std::move(opened));
  }
  const std::string_view where = volume ? "the volume" : "the image";
  const auto there = (volume ? *volume : root).open(RootfsPath(path.substr(above.length)), O_PATH);
  if (!there && there.error().number() == ENOENT) {
    if (!volume || !bound->read_only) return {};
    return refuse("the volume at {} is read-only, and has no {} at {}", bound->destination,
                  name_of(form), path);
  }
  if (!there && there.error().number() == ENOTDIR)
    return refuse("a part of the path {} is a file of {}", path, where);
  if (!there) return std::unexpected(there.error());
  OCIRUN_TRY_ASSIGN(const struct stat info, linux::sys::fstat(*there));
  const Form found = S_ISDIR(info.st_mode) ? Form::kDirectory : Form::kFile;
  if (found == form) return {};
  return refuse("a {} cannot take the place of {}, which is a {} of {}", name_of(form), path,
                name_of(found), where);
}

/// The form of the file that the plan binds at `path`; a directory for a path in memory.
Form form_at(const Places& places, const std::string& path) {
  const BoundPath* const* bound = places.at(path);
  if (bound == nullptr || *bound == nullptr) return Form::kDirectory;
  const auto opened = linux::sys::open((*bound)->source.c_str(), O_PATH);
  const auto info = opened ? linux::sys::fstat(*opened) : std::unexpected(opened.error());
  return !info || S_ISDIR(info->st_mode) ? Form::kDirectory : Form::kFile;
}

}  // namespace

Result<void> check_mount_places(const Workload& workload, const Container& container,
                                const BundlePlan& plan, const linux::SafeDir& root) {
  const Places places = places_of(plan);
  const auto check = [&](const std::string& path, Form form, Place place) {
    return within(check_path(path, form, places, root), workload.at(place));
  };
  for (const Mount& mount : container.mounts)
    if (mount.sub_path.empty())
      OCIRUN_TRY(check(mount.path, form_at(places, mount.path), mount.place));
  for (const MountPoint& point : container.mount_points)
    OCIRUN_TRY(check(point.path, form_at(places, point.path), point.place));
  for (const ConfigFile& file : container.config_files)
    OCIRUN_TRY(check(file.path, Form::kFile, file.place));
  return {};
}

}  // namespace ocirun::pods
