#include "criu/dump/places.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/mount_point.hpp"

namespace ocirun::runtime {
namespace {

using linux::clean_path;
using linux::is_below;
using linux::SafeDir;

std::string parent_of(const std::string& path) {
  const std::size_t end = path.rfind('/');
  return end == 0 ? "/" : path.substr(0, end);
}

// Error: a symlink is a part of the path. A path with missing parts is no error, because CRIU makes
// the missing parts, and makes no symlink.
Result<void> check_parts(const SafeDir& directory, const std::string& path) {
  const auto found = directory.open(RootfsPath(path), O_PATH, SafeDir::Symlinks::kRefuse);
  if (found || found.error().number() == ENOENT) return {};
  if (found.error().number() == ELOOP) return refuse("a symlink is a part of the path");
  return std::unexpected(found.error());
}

std::string below(const std::string& path, const std::string& point) {
  return point == "/" ? path : path.substr(point.size());
}

}  // namespace

bool leads_up(std::string_view path) {
  const auto parts = linux::words(path, '/');
  return std::ranges::find(parts, "..") != parts.end();
}

Result<void> ImagePlaces::check_file(const std::string& path, std::int64_t mount_id) const {
  const auto checked = [&]() -> Result<void> {
    if (!path.starts_with('/') || leads_up(path)) return refuse("the path is not plain");
    const ImageMount* const mount = find(mount_id);
    const std::string file = clean_path(path);
    if (mount == nullptr || !is_below(file, clean_path(mount->point)))
      return refuse("the file does not lie in the mount {} of the images", mount_id);
    const std::string point = clean_path(mount->point);
    const std::string directory = parent_of(file);
    const bool is_crossed = std::ranges::any_of(mounts_, [&](const ImageMount& other) {
      const std::string its_point = clean_path(other.point);
      return is_below(its_point, point) && linux::is_at_or_below(directory, its_point);
    });
    if (is_crossed) return refuse("another mount of the images is a part of the path");
    if (directory == point) return {};
    OCIRUN_TRY_ASSIGN(const auto base, base_of(*mount));
    if (!base)
      return refuse("the file does not lie at the top of the file system that criu makes on {:?}",
                    mount->point);
    return check_parts(base->directory, below(directory, base->point));
  }();
  return within(checked, "criu would make or remove the file {:?}", path);
}

Result<void> ImagePlaces::check_point(const ImageMount& mount) const {
  const std::string point = clean_path(mount.point);
  const ImageMount* const parent = find(mount.parent);
  if (parent == nullptr || point == "/") return {};
  OCIRUN_TRY_ASSIGN(const auto base, base_of(*parent));
  if (!base || !is_below(point, base->point)) return {};
  return within(check_parts(base->directory, below(point, base->point)), "criu would mount on {:?}",
                mount.point);
}

Result<std::optional<ImagePlaces::Base>> ImagePlaces::base_of(const ImageMount& mount) const {
  if (mount.is_containers_root) {
    auto root = SafeDir::open_root(config_.root_path);
    if (!root) return refuse("/root/path: {}", root.error().message());
    return Base{.point = "/", .directory = *std::move(root)};
  }
  const auto bind = std::ranges::find_if(config_.mounts, [&](const linux::Mount& wanted) {
    return wanted.bind && !wanted.remount && linux::clean(wanted.destination) == mount.external;
  });
  if (mount.external.empty() || bind == config_.mounts.end()) return std::nullopt;
  auto source = linux::sys::open(bind->source.c_str(), O_PATH);
  if (!source)
    return refuse("/mounts/{}/source: {}", bind - config_.mounts.begin(), source.error().message());
  return Base{.point = clean_path(mount.point), .directory = SafeDir(*std::move(source))};
}

const ImageMount* ImagePlaces::find(std::int64_t mount_id) const {
  const auto found = std::ranges::find(
      mounts_, mount_id, [](const ImageMount& mount) { return std::int64_t{mount.id}; });
  return found == mounts_.end() ? nullptr : &*found;
}

}  // namespace ocirun::runtime
