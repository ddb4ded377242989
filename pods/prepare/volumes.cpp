#include "pods/prepare/volumes.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/images/directories.hpp"
#include "pods/plan/admission.hpp"
#include "pods/prepare/files.hpp"
#include "pods/prepare/kept_volumes.hpp"
#include "pods/prepare/mounts.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kVolumes = "volumes";
constexpr const char* kParts = "parts";  // of volumes, in a container's directory

/// The directory of the host that the operator gives for a volume, by either name of the volume;
/// else the one that ocirun keeps for its claim.
const VolumeBinding* binding_of(const Volume& volume, const Given& given) {
  for (const std::string* name : {&volume.name, &volume.source})
    if (const auto found = given.volumes.find(*name); found != given.volumes.end())
      return &found->second;
  const auto claim = given.claims.find(volume.name);
  return claim == given.claims.end() ? nullptr : &claim->second;
}

Result<UniqueFd> open_directory(const std::string& path) {
  return sys::open(path.c_str(), O_RDONLY | O_DIRECTORY);
}

/// Opens a directory of the pod, or the mount on it.
Result<UniqueFd> open_made(Fd parent, const std::string& name) {
  return sys::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

Result<UniqueFd> lock(const std::string& locks, Fd directory, const Volume& volume) {
  auto held = lock_volume(locks, directory, volume.exclusive ? Use::kAlone : Use::kShared);
  if (held || held.error().number() != EAGAIN) return held;
  if (volume.exclusive) return refuse("another pod uses the volume, and {}", volume.exclusive_by);
  return refuse("another pod has the volume for itself alone");
}

/// `what` requires the space.
Result<void> check_space(Fd directory, std::uint64_t least,
                         std::string_view what = "the volume requires") {
  struct statfs info{};
  if (::fstatfs(directory.value, &info) != 0) return fail(errno, "find the free space");
  const std::uint64_t free =
      static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  if (free >= least) return {};
  return refuse("{} {}, and the filesystem has {} free", what, bytes_text(least), bytes_text(free));
}

/// Checks that the filesystem of the pod's directory has the space that containers request.
Result<void> check_requested_space(const Workload& workload, Fd directory) {
  std::uint64_t sum = 0;
  for (const Container& container : workload.pod.containers) {
    if (!container.resources.requests.storage) continue;
    sum += std::min(*container.resources.requests.storage,
                    std::numeric_limits<std::uint64_t>::max() - sum);
    TRY(within(check_space(directory, sum, "ephemeral-storage: the containers request"),
               workload.at(container.resources.place)));
  }
  return {};
}

/// Makes the directory of the pod for a volume.
Result<UniqueFd> make_directory(Fd volumes, const std::string& name) {
  TRY(sys::mkdirat(volumes, name.c_str(), 0700));
  return open_made(volumes, name);
}

/// Mounts an empty filesystem on the volume's directory if the volume wants one of its own. Returns
/// the directory that containers see.
Result<UniqueFd> mount_empty(const Volume& volume, const Site& volumes, const std::string& name,
                             UniqueFd made) {
  if (volume.in_memory) {
    std::string options = "mode=0700";
    if (volume.most_bytes) options += fmt::format(",size={}", *volume.most_bytes);
    TRY(mount_memory(made, options));
  } else if (volume.most_bytes) {
    return mount_new_disk(volumes, name, *volume.most_bytes);
  } else {
    return made;
  }
  return open_made(volumes.fd, name);
}

class Preparation {
 public:
  Preparation(const Pod& pod, const Given& given, const Site& volumes, Reach reach,
              const std::string& locks)
      : secrets_{.bindings = given.bindings, .pod = pod},
        given_(given),
        volumes_(volumes),
        reach_(reach),
        locks_directory_(locks) {}

  Result<ReadyVolume> prepare(const Volume& volume) {
    const VolumeBinding* binding = binding_of(volume, given_);
    if (binding == nullptr && volume.kind == Volume::Source::kEmpty) return make_empty(volume);
    const bool is_secret = binding == nullptr && volume.kind == Volume::Source::kSecret;
    if (is_secret && (volume.items || volume.file_mode || volume.group ||
                      !given_.bindings.secrets.contains(volume.source)))
      return make_key_files(volume);
    ReadyVolume ready{.source = {}, .read_only = volume.read_only, .recursive = volume.recursive};
    std::string path = volume.source;
    if (binding != nullptr) {
      if (binding->is_kept && is_trial()) return make_empty(volume);
      if (binding->is_kept) {
        TRY(make_kept(*binding, ready));
        ready.group = volume.group;
      }
      path = binding->directory.string();
      ready.read_only = ready.read_only || binding->read_only;
    } else if (is_secret) {
      path = given_.bindings.secrets.at(volume.source).string();
      ready.read_only = true;
    }
    TRY_ASSIGN(const HostPath absolute, linux::absolute_path(path));
    return within(share(volume, is_secret, absolute.string(), std::move(ready)), absolute.string());
  }

  /// The directory of --volume for a mount point without a volume (AC-8).
  Result<ReadyVolume> prepare(const VolumeBinding& binding) {
    TRY_ASSIGN(const HostPath path, linux::absolute_path(binding.directory.string()));
    ReadyVolume ready{.source = {}, .read_only = binding.read_only};
    if (binding.is_kept) TRY(make_kept(binding, ready));
    return within(show(path.string(), std::move(ready)), path.string());
  }

  std::vector<UniqueFd> take_locks() { return std::move(locks_); }

 private:
  /// Whether nothing will run, and nothing that is made will stay.
  bool is_trial() const { return reach_ == Reach::kMounted && locks_directory_.empty(); }

  Result<void> make_kept(const VolumeBinding& binding, ReadyVolume& ready) {
    ready.kept = binding.directory.string();
    const auto made = open_kept_volume(binding.directory);
    return made ? Result<void>{} : std::unexpected(made.error());
  }

  Result<ReadyVolume> make_empty(const Volume& volume) {
    if (volume.most_bytes && !volume.in_memory && reach_ == Reach::kByPath)
      return refuse(
          "a bundle cannot limit a directory on disk to {}: `ocirun pod run` can, or --volume "
          "{}=DIR names a filesystem of that size",
          bytes_text(*volume.most_bytes), volume.name);
    const std::string name = next_name();
    TRY_ASSIGN(UniqueFd made, make_directory(volumes_.fd, name));
    if (reach_ == Reach::kMounted) {
      TRY_ASSIGN(made, mount_empty(volume, volumes_, name, std::move(made)));
    }
    TRY(sys::fchown(made, volume.uid.value(), volume.group.value_or(volume.gid).value()));
    TRY(sys::fchmod(made, volume.group ? volume.mode | kGroupDirectory : volume.mode));
    if (volume.least_bytes) TRY(check_space(made, *volume.least_bytes));
    return ReadyVolume{.source = fmt::format("{}/{}", volumes_.path, name),
                       .read_only = volume.read_only,
                       .recursive = volume.recursive};
  }

  /// Files of a secret or a config map: in memory, where the pod has mounts of its own.
  Result<ReadyVolume> make_key_files(const Volume& volume) {
    std::map<std::string, std::string> keys;
    if (!volume.is_optional || secrets_.have(volume.source)) {
      TRY_ASSIGN(keys, secrets_.files(volume.source));
    }
    const std::string name = next_name();
    TRY_ASSIGN(UniqueFd made, make_directory(volumes_.fd, name));
    if (reach_ == Reach::kMounted) {
      TRY(mount_memory(made, "mode=0700"));
      TRY_ASSIGN(made, open_made(volumes_.fd, name));
    }
    TRY(sys::fchmod(made, 0755));
    TRY(write_key_files(volume, keys, made, copied_));
    return ReadyVolume{
        .source = fmt::format("{}/{}", volumes_.path, name), .read_only = true, .recursive = false};
  }

  /// A directory of the host, which other pods may use too.
  Result<ReadyVolume> share(const Volume& volume, bool is_secret, const std::string& path,
                            ReadyVolume ready) {
    TRY_ASSIGN(const UniqueFd opened, open_directory(path));
    if (!is_secret && !volume.shares_with_all && !locks_directory_.empty()) {
      TRY_ASSIGN(UniqueFd held, lock(locks_directory_, opened, volume));
      locks_.push_back(std::move(held));
    }
    if (!is_secret && volume.least_bytes) TRY(check_space(opened, *volume.least_bytes));
    return show(opened, path, std::move(ready));
  }

  Result<ReadyVolume> show(const std::string& path, ReadyVolume ready) {
    TRY_ASSIGN(const UniqueFd opened, open_directory(path));
    return show(opened, path, std::move(ready));
  }
  Result<ReadyVolume> show(Fd opened, const std::string& path, ReadyVolume ready) {
    ready.source = path;
    if (reach_ == Reach::kByPath) return ready;
    const std::string name = next_name();
    TRY_ASSIGN(const UniqueFd made, make_directory(volumes_.fd, name));
    TRY(bind_directory(opened, ready.recursive, made));
    ready.source = fmt::format("{}/{}", volumes_.path, name);
    return ready;
  }

  std::string next_name() { return fmt::format("{}", number_++); }

  Secrets secrets_;
  const Given& given_;
  const Site& volumes_;
  Reach reach_;
  const std::string& locks_directory_;
  std::vector<UniqueFd> locks_;
  std::size_t copied_ = 0;  // bytes of keys
  unsigned number_ = 0;
};

}  // namespace

Result<UniqueFd> lock_name(const std::string& locks, const std::string& name, Use use) {
  TRY_ASSIGN(const UniqueFd all, open_or_make_directory(HostPath(locks)));
  TRY_ASSIGN(UniqueFd file, sys::openat(all, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(file.get(), (use == Use::kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0)
    if (errno != EINTR) return fail(errno == EWOULDBLOCK ? EAGAIN : errno, "lock");
  return file;
}

Result<UniqueFd> lock_volume(const std::string& locks, Fd directory, Use use) {
  TRY_ASSIGN(const struct stat info, sys::fstat(directory));
  return within(lock_name(locks, fmt::format("{}-{}", info.st_dev, info.st_ino), use),
                "the volume");
}

Result<Volumes> prepare_volumes(const Workload& workload, const Given& given, const Site& site,
                                Reach reach, const std::string& locks) {
  Volumes volumes;
  TRY(check_requested_space(workload, site.fd));
  TRY(sys::mkdirat(site.fd, kVolumes, 0711));
  TRY_ASSIGN(const UniqueFd below, open_made(site.fd, kVolumes));
  const Site inside{.fd = below, .path = fmt::format("{}/{}", site.path, kVolumes)};
  volumes.reach = reach;
  Preparation preparation(workload.pod, given, inside, reach, locks);
  for (const Volume& volume : workload.pod.volumes) {
    auto ready = preparation.prepare(volume);
    if (!ready)
      return std::unexpected(ready.error().within(
          fmt::format("{}: volume \"{}\"", workload.at(volume.place), volume.name)));
    volumes.by_name.emplace(volume.name, *std::move(ready));
  }
  for (const Container* container : all_containers(workload.pod))
    for (const MountPoint& point : container->mount_points) {
      const auto binding = given.volumes.find(point.name);
      if (binding == given.volumes.end() || volumes.for_mount_points.contains(point.name)) continue;
      TRY_ASSIGN(ReadyVolume ready,
                 within(preparation.prepare(binding->second), "--volume " + point.name));
      volumes.for_mount_points.emplace(point.name, std::move(ready));
    }
  volumes.locks = preparation.take_locks();
  return volumes;
}

namespace {

/// The volumes to which only ocirun writes, because their files are keys of a secret or a config
/// map.
std::set<std::string_view> volumes_of_keys(const Pod& pod) {
  std::set<std::string_view> names;
  for (const Volume& volume : pod.volumes)
    if (volume.kind == Volume::Source::kSecret) names.insert(volume.name);
  return names;
}

}  // namespace

Result<ContainerMounts> mounts_of(const Container& container, const Workload& workload,
                                  const Volumes& volumes, Fd directory, const std::string& path) {
  ContainerMounts mounts;
  std::vector<BoundPath>& bound = mounts.bound;
  const std::set<std::string_view> of_keys = volumes_of_keys(workload.pod);
  std::map<std::string_view, bool> points;  // whether they are read-only
  for (const MountPoint& point : container.mount_points) points[point.path] |= point.read_only;
  std::set<std::string_view> mounted;
  for (const Mount& mount : container.mounts) {
    mounted.insert(mount.path);
    const auto volume = volumes.by_name.find(mount.volume);
    if (volume == volumes.by_name.end())
      return refuse("{}: there is no volume \"{}\"", workload.at(mount.place), mount.volume);
    // AC-8: a mount at the path of a mount point satisfies the point, which may want it read-only.
    const auto point = points.find(mount.path);
    const bool point_read_only = point != points.end() && point->second;
    std::string source = volume->second.source;
    if (!mount.sub_path.empty()) {
      SubPath part{.volume = mount.volume,
                   .source = source,
                   .path = mount.sub_path,
                   .may_make = !volume->second.read_only,
                   .recursive = volume->second.recursive,
                   .shown_at = fmt::format("{}/{}/{}", path, kParts, mounts.parts.size())};
      if (volumes.reach == Reach::kByPath) {
        // config.json can have only the path. A program that writes to the volume could lead the
        // path out of the volume before the bundle runs (Kubernetes CVE-2017-1002101).
        if (!of_keys.contains(mount.volume))
          return refuse(
              "{}: subPath {} of the volume \"{}\" cannot be planned: whoever writes to the volume "
              "could lead the path elsewhere before the bundle runs; `ocirun pod run` does it",
              workload.at(mount.place), part.path, mount.volume);
        TRY(within(check(part), workload.at(mount.place)));
        source = fmt::format("{}/{}", source, part.path);
      } else {
        TRY(open_or_make_directory(directory, kParts, 0700));
        source = part.shown_at;
        mounts.parts.push_back(std::move(part));
      }
    }
    bound.push_back({.source = std::move(source),
                     .destination = mount.path,
                     .read_only = mount.read_only || volume->second.read_only || point_read_only,
                     .recursive = volume->second.recursive});
  }
  for (const MountPoint& point : container.mount_points) {
    const auto volume = volumes.for_mount_points.find(point.name);
    if (mounted.contains(point.path) || volume == volumes.for_mount_points.end()) continue;
    bound.push_back({.source = volume->second.source,
                     .destination = point.path,
                     .read_only = point.read_only || volume->second.read_only,
                     .recursive = volume->second.recursive});
  }
  return mounts;
}

}  // namespace ocirun::pods
