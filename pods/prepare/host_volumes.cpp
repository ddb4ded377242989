#include "pods/prepare/host_volumes.hpp"

#include <fcntl.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>

#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "linux/mounts/devices.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

/// The names of the volumes that containers of the pod do not mount read-only.
std::set<std::string_view> mounted_to_write(const Pod& pod) {
  std::set<std::string_view> names;
  for (const Container* container : all_containers(pod))
    for (const Mount& mount : container->mounts)
      if (!mount.read_only) names.insert(mount.volume);
  return names;
}

/// The directories of the host that containers of the pod can write to.
std::set<std::string> writable_directories(const Pod& pod, const Given& given) {
  std::set<std::string> paths;
  const std::set<std::string_view> written = mounted_to_write(pod);
  for (const Volume& volume : pod.volumes)
    if (volume.kind == Volume::Source::kHost && !given.volumes.contains(volume.name) &&
        !volume.read_only && written.contains(volume.name))
      paths.insert(volume.source);
  for (const auto& [name, binding] : given.volumes) {
    const auto path = linux::absolute_path(binding.directory.string());
    if (path && !binding.is_kept && !binding.read_only) paths.insert(path->string());
  }
  return paths;
}

/// The device of a node; nothing for one of the devices that every container may open.
std::optional<AllowedDevice> device_of(const HostFile& file) {
  const auto major = static_cast<std::uint32_t>(::major(file.info.st_rdev));
  const auto minor = static_cast<std::uint32_t>(::minor(file.info.st_rdev));
  const bool is_block = S_ISBLK(file.info.st_mode);
  const bool is_default =
      !is_block && std::ranges::any_of(linux::default_devices(), [&](const linux::Device& known) {
        return known.major == major && known.minor == minor;
      });
  if (!file.is_device() || is_default) return std::nullopt;
  return AllowedDevice{
      .type = is_block ? 'b' : 'c', .major = major, .minor = minor, .access = "rw"};
}

Result<UniqueFd> lock(const std::string& locks, Fd file, const Volume& volume) {
  auto held = lock_volume(locks, file, volume.exclusive ? Use::kAlone : Use::kShared);
  if (held || held.error().number() != EAGAIN) return held;
  if (volume.exclusive) return refuse("another pod uses the volume, and {}", volume.exclusive_by);
  return refuse("another pod has the volume for itself alone");
}

/// Makes an empty directory or file of the pod, on which one of the host can be mounted.
Result<UniqueFd> make_place_of_volume(Fd volumes, const std::string& name, bool is_directory) {
  if (is_directory) return linux::open_or_make_directory(volumes, name.c_str(), 0755);
  OCIRUN_TRY(sys::mknodat(volumes, name.c_str(), S_IFREG | 0644, 0));
  return sys::openat(volumes, name.c_str(), O_PATH | O_NOFOLLOW);
}

}  // namespace

HostVolumes::HostVolumes(const Pod& pod, const Given& given, const Site& site, Reach reach,
                         const std::string& locks)
    : pod_(pod),
      site_(site),
      reach_(reach),
      locks_directory_(locks),
      host_(writable_directories(pod, given),
            is_trial() ? HostPaths::Absent::kLeave : HostPaths::Absent::kMake) {}

Result<ReadyVolume> HostVolumes::show_named(const Volume& volume, const std::string& name,
                                            ReadyVolume ready) {
  const std::string& path = volume.source;
  const auto shown = [&]() -> Result<ReadyVolume> {
    auto file = host_.open(path, volume.host_type);
    const bool may_have_type = pod_.kind == Kind::kKubernetes;
    if (!file && file.error().number() == ENOENT && may_have_type &&
        volume.host_type == HostType::kAny)
      return refuse("no such file or directory (\"type: DirectoryOrCreate\" makes a directory)");
    if (!file) return std::unexpected(file.error());
    if (!*file) return stand_in(volume, name, std::move(ready));
    OCIRUN_TRY(reserve(volume, (*file)->fd));
    ready.device = device_of(**file);
    ready.lets_open = volume.host_type != HostType::kAny;
    return show(**file, path, name, std::move(ready));
  };
  return within(shown(), path);
}

Result<ReadyVolume> HostVolumes::show_given(const Volume* volume, const std::string& path,
                                            const std::string& name, ReadyVolume ready) {
  const auto shown = [&]() -> Result<ReadyVolume> {
    OCIRUN_TRY_ASSIGN(const HostFile file, open_given(path));
    if (volume != nullptr) OCIRUN_TRY(reserve(*volume, file.fd));
    return show(file, path, name, std::move(ready));
  };
  return within(shown(), path);
}

Result<ReadyVolume> HostVolumes::show_secret(const std::string& path, const std::string& name,
                                             ReadyVolume ready) const {
  const auto shown = [&]() -> Result<ReadyVolume> {
    HostFile directory;
    OCIRUN_TRY_ASSIGN(directory.fd, sys::open(path.c_str(), O_RDONLY | O_DIRECTORY));
    OCIRUN_TRY_ASSIGN(directory.info, sys::fstat(directory.fd));
    return show(directory, path, name, std::move(ready));
  };
  return within(shown(), path);
}

Result<HostFile> HostVolumes::open_given(const std::string& path) {
  OCIRUN_TRY_ASSIGN(auto file, host_.open(path, HostType::kAny));
  if (!file->is_device()) return *std::move(file);
  return refuse(
      "is a device, and --volume gives a directory, a file or a socket: --device gives a device of "
      "a CDI specification");
}

/// Locks the volume, and checks that it has the space that it requires.
Result<void> HostVolumes::reserve(const Volume& volume, Fd file) {
  if (!volume.shares_with_all && !locks_directory_.empty()) {
    OCIRUN_TRY_ASSIGN(UniqueFd held, lock(locks_directory_, file, volume));
    locks_.push_back(std::move(held));
  }
  return volume.least_bytes ? check_space(file, *volume.least_bytes) : Result<void>{};
}

Result<ReadyVolume> HostVolumes::show(const HostFile& file, const std::string& path,
                                      const std::string& name, ReadyVolume ready) const {
  ready.source = path;
  ready.is_directory = file.is_directory();
  if (reach_ == Reach::kByPath) return ready;
  OCIRUN_TRY_ASSIGN(const UniqueFd place,
                    make_place_of_volume(site_.fd, name, file.is_directory()));
  OCIRUN_TRY(bind_mount(file.fd, ready.recursive, place));
  ready.source = fmt::format("{}/{}", site_.path, name);
  return ready;
}

/// In a trial (is_trial()), shows an empty file or directory, instead of making one on the host.
Result<ReadyVolume> HostVolumes::stand_in(const Volume& volume, const std::string& name,
                                          ReadyVolume ready) const {
  ready.is_directory = volume.host_type == HostType::kDirectoryOrCreate;
  OCIRUN_TRY(make_place_of_volume(site_.fd, name, ready.is_directory));
  ready.source = fmt::format("{}/{}", site_.path, name);
  return ready;
}

}  // namespace ocirun::pods
