#include "pods/prepare/kept_volumes.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "pods/images/trees/merge_layers.hpp"
#include "pods/prepare/volumes.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kKept = "/volumes";

std::string mark_of(const std::string& name) { return fmt::format(".{}.new", name); }

/// Splits "DATA/volumes/NAME".
std::pair<HostPath, std::string> parts_of(const HostPath& path) {
  const std::size_t slash = path.string().rfind('/');
  return {HostPath(path.string().substr(0, slash)), path.string().substr(slash + 1)};
}

/// Waits for the lock of an open file, which the kernel frees when the file is closed.
Result<void> lock_alone(Fd file) {
  while (::flock(file.value, LOCK_EX) != 0)
    if (errno != EINTR) return fail(errno, "lock");
  return {};
}

Result<UniqueFd> open_volume(Fd volumes, const std::string& name) {
  return sys::openat(volumes, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace

Result<void> copy_from_image(const linux::SafeDir& root, const std::string& path, Fd volume) {
  const auto there = root.open(RootfsPath(path), O_RDONLY | O_DIRECTORY);
  if (there) return copy_tree(*there, volume, {});
  if (there.error().number() == ENOENT) return {};
  return std::unexpected(there.error());
}

Result<void> check_volume_name(const std::string& name) {
  if (check_pod_name(name)) return {};
  return refuse(
      "--volume {0}: a volume that ocirun keeps has a name of 1 to 63 letters, digits, \"-\", "
      "\"_\" and \".\", which begins and ends with a letter or digit; --volume {0}=HOSTPATH gives "
      "a directory",
      name);
}

HostPath kept_volume_path(const HostPath& data, const std::string& name) {
  return HostPath(fmt::format("{}{}/{}", data.string(), kKept, name));
}

Result<UniqueFd> open_kept_volume(const HostPath& path) {
  const auto [above, name] = parts_of(path);
  OCIRUN_TRY_ASSIGN(const UniqueFd volumes, linux::open_or_make_directory(above));
  OCIRUN_TRY(lock_alone(volumes));  // until `volumes` is closed
  auto opened = open_volume(volumes, name);
  if (opened || opened.error().number() != ENOENT) return opened;
  // The file ".NAME.new" comes first, so that a volume without this file has been filled.
  const auto mark =
      sys::openat(volumes, mark_of(name).c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (!mark) return std::unexpected(mark.error());
  // open_volume() opens the directory that mkdirat() has made: no container can reach the directory
  // of the volumes, and no container has the volume before the volume is filled.
  OCIRUN_TRY(sys::mkdirat(volumes, name.c_str(), 0755));
  return open_volume(volumes, name);
}

Result<void> fill_kept_volume(const HostPath& path, const linux::SafeDir& root,
                              const std::string& destination) {
  const auto [above, name] = parts_of(path);
  const std::string mark = mark_of(name);
  OCIRUN_TRY_ASSIGN(const UniqueFd volumes, linux::open_or_make_directory(above));
  const auto held = sys::openat(volumes, mark.c_str(), O_RDWR | O_NOFOLLOW);
  if (!held && held.error().number() == ENOENT) return {};
  if (!held) return std::unexpected(held.error());
  OCIRUN_TRY(lock_alone(*held));
  OCIRUN_TRY_ASSIGN(const struct stat status, sys::fstat(*held));
  if (status.st_nlink == 0) return {};  // another process has filled the volume meanwhile
  OCIRUN_TRY_ASSIGN(const UniqueFd volume, open_volume(volumes, name));
  OCIRUN_TRY(linux::remove_content(volume));  // an earlier filling may have been cut off
  if (!destination.empty()) OCIRUN_TRY(copy_from_image(root, destination, volume));
  return sys::unlinkat(volumes, mark.c_str(), 0);
}

Result<void> give_to_group(const HostPath& path, Gid group) {
  OCIRUN_TRY_ASSIGN(const UniqueFd volume, open_kept_volume(path));
  OCIRUN_TRY_ASSIGN(const struct stat status, sys::fstat(volume));
  OCIRUN_TRY(sys::fchown(volume, status.st_uid, group.value()));
  return sys::fchmod(volume, (status.st_mode & 07777) | kGroupDirectory);
}

Result<std::vector<std::string>> kept_volumes(const HostPath& data) {
  OCIRUN_TRY_ASSIGN(const UniqueFd volumes,
                    linux::open_or_make_directory(HostPath(data.string() + kKept)));
  return directories_in(volumes);
}

Result<void> remove_kept_volume(const HostPath& data, const std::string& name) {
  OCIRUN_TRY(check_volume_name(name));
  OCIRUN_TRY_ASSIGN(const UniqueFd volumes,
                    linux::open_or_make_directory(HostPath(data.string() + kKept)));
  OCIRUN_TRY(lock_alone(volumes));
  const auto there = open_volume(volumes, name);
  if (!there && there.error().number() == ENOENT)
    return fail(ENOENT, "there is no volume \"{}\"", name);
  if (!there) return std::unexpected(there.error());
  const auto lock = lock_volume(data.string() + "/locks", *there, Use::kAlone);
  if (!lock && lock.error().number() == EAGAIN)
    return refuse("a pod that runs uses the volume \"{}\"", name);
  if (!lock) return std::unexpected(lock.error());
  OCIRUN_TRY(linux::remove_tree(volumes, name.c_str()));
  return linux::remove_tree(volumes, mark_of(name).c_str());
}

}  // namespace ocirun::pods
