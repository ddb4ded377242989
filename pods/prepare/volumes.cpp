#include "pods/prepare/volumes.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/absolute_path.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/images/directories.hpp"
#include "pods/plan/admission.hpp"
#include "pods/prepare/mounts.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kVolumes = "volumes";

/// The directory of the host that the operator gives for a volume, by either name of the volume.
const VolumeBinding* binding_of(const Volume& volume, const Given& given) {
  for (const std::string* name : {&volume.name, &volume.source})
    if (const auto found = given.volumes.find(*name); found != given.volumes.end())
      return &found->second;
  return nullptr;
}

Result<UniqueFd> open_directory(const std::string& path) {
  return sys::open(path.c_str(), O_RDONLY | O_DIRECTORY);
}

/// Locks a file that stands for the directory: the directory itself could be locked by a container
/// that sees it.
Result<UniqueFd> lock(const std::string& locks, Fd directory, bool exclusive) {
  TRY_ASSIGN(const struct stat info, sys::fstat(directory));
  TRY_ASSIGN(const UniqueFd all, open_or_make_directory(HostPath(locks)));
  const std::string name = fmt::format("{}-{}", info.st_dev, info.st_ino);
  TRY_ASSIGN(UniqueFd file, sys::openat(all, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(file.get(), (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return fail(errno, "lock the volume");
    if (exclusive) return refuse("another pod uses the volume, and sharingPolicy is Exclusive");
    return refuse("another pod has the volume for itself alone (sharingPolicy Exclusive)");
  }
  return file;
}

Result<void> check_space(Fd directory, std::uint64_t least) {
  struct statfs info{};
  if (::fstatfs(directory.value, &info) != 0) return fail(errno, "find the free space");
  const std::uint64_t free =
      static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  if (free >= least) return {};
  return refuse("the volume requires {}, and the filesystem has {} free", bytes_text(least),
                bytes_text(free));
}

/// Makes the volume's directory, or mounts a tmpfs on it.
Result<UniqueFd> make_empty(const Volume& volume, Fd volumes, const std::string& name,
                            MemoryVolumes memory) {
  TRY(sys::mkdirat(volumes, name.c_str(), 0700));
  TRY_ASSIGN(UniqueFd made,
             sys::openat(volumes, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  if (volume.in_memory && memory == MemoryVolumes::kMounted) {
    std::string options =
        fmt::format("mode={:o},uid={},gid={}", volume.mode, volume.uid.value(), volume.gid.value());
    if (volume.most_bytes) options += fmt::format(",size={}", *volume.most_bytes);
    TRY(mount_memory(made, options));
    return made;
  }
  TRY(sys::fchown(made, volume.uid.value(), volume.gid.value()));
  TRY(sys::fchmod(made, volume.mode));
  return made;
}

Result<ReadyVolume> prepare(const Volume& volume, std::size_t index, const Given& given,
                            const Site& volumes, MemoryVolumes memory,
                            const std::string& locks_directory, std::vector<UniqueFd>& locks) {
  ReadyVolume ready{.source = {}, .read_only = volume.read_only, .recursive = volume.recursive};
  std::string path = volume.source;
  if (const VolumeBinding* binding = binding_of(volume, given)) {
    path = binding->directory.string();
    ready.read_only = ready.read_only || binding->read_only;
  } else if (volume.kind == Volume::Source::kEmpty) {
    if (volume.most_bytes && !volume.in_memory)
      return refuse(
          "a directory on disk cannot be limited to {}: \"medium: Memory\" can, or --volume {}=DIR "
          "names a filesystem of that size",
          bytes_text(*volume.most_bytes), volume.name);
    const std::string name = fmt::format("{}", index);
    TRY_ASSIGN(const UniqueFd made, make_empty(volume, volumes.fd, name, memory));
    if (volume.least_bytes) TRY(check_space(made, *volume.least_bytes));
    ready.source = fmt::format("{}/{}", volumes.path, name);
    return ready;
  } else if (volume.kind == Volume::Source::kSecret) {
    path = given.bindings.secrets.at(volume.source).string();
    ready.read_only = true;
  }
  TRY_ASSIGN(const HostPath absolute, linux::absolute_path(path));
  TRY_ASSIGN(UniqueFd opened, within(open_directory(absolute.string()), absolute.string()));
  if (volume.kind != Volume::Source::kSecret) {
    if (!locks_directory.empty()) {
      TRY_ASSIGN(UniqueFd held,
                 within(lock(locks_directory, opened, volume.exclusive), absolute.string()));
      locks.push_back(std::move(held));
    }
    if (volume.least_bytes)
      TRY(within(check_space(opened, *volume.least_bytes), absolute.string()));
  }
  ready.source = absolute.string();
  return ready;
}

}  // namespace

Result<Volumes> prepare_volumes(const Workload& workload, const Given& given, const Site& site,
                                MemoryVolumes memory, const std::string& locks) {
  Volumes volumes;
  TRY(sys::mkdirat(site.fd, kVolumes, 0711));
  TRY_ASSIGN(const UniqueFd below,
             sys::openat(site.fd, kVolumes, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const Site inside{.fd = below, .path = fmt::format("{}/{}", site.path, kVolumes)};
  for (std::size_t i = 0; i < workload.pod.volumes.size(); ++i) {
    const Volume& volume = workload.pod.volumes[i];
    auto ready = prepare(volume, i, given, inside, memory, locks, volumes.locks);
    if (!ready)
      return std::unexpected(ready.error().within(
          fmt::format("{}: volume \"{}\"", workload.at(volume.place), volume.name)));
    volumes.by_name.emplace(volume.name, *std::move(ready));
  }
  return volumes;
}

Result<std::vector<BoundPath>> mounts_of(const Container& container, const Workload& workload,
                                         const Given& given, const Volumes& volumes) {
  std::vector<BoundPath> bound;
  for (const Mount& mount : container.mounts) {
    const auto volume = volumes.by_name.find(mount.volume);
    if (volume == volumes.by_name.end())
      return refuse("{}: there is no volume \"{}\"", workload.at(mount.place), mount.volume);
    bound.push_back({.source = volume->second.source,
                     .destination = mount.path,
                     .read_only = mount.read_only || volume->second.read_only,
                     .recursive = volume->second.recursive});
  }
  for (const MountPoint& point : container.mount_points) {
    const bool is_mounted =
        std::ranges::find(container.mounts, point.path, &Mount::path) != container.mounts.end();
    const auto binding = given.volumes.find(point.name);
    if (is_mounted || binding == given.volumes.end()) continue;
    TRY_ASSIGN(const HostPath path, linux::absolute_path(binding->second.directory.string()));
    TRY(within(open_directory(path.string()), path.string()));
    bound.push_back({.source = path.string(),
                     .destination = point.path,
                     .read_only = point.read_only || binding->second.read_only,
                     .recursive = true});
  }
  return bound;
}

}  // namespace ocirun::pods
