#include "pods/prepare/volumes.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>
#include <string_view>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "pods/prepare/files.hpp"
#include "pods/prepare/host_volumes.hpp"
#include "pods/prepare/kept_volumes.hpp"
#include "pods/prepare/mounts.hpp"
#include "pods/prepare/plan/admission.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kVolumes = "volumes";

/// The path of the host that the operator gives for a volume, by either name of the volume; else
/// the directory that ocirun keeps for the volume's claim.
const VolumeBinding* binding_of(const Volume& volume, const Given& given) {
  for (const std::string* name : {&volume.name, &volume.source})
    if (const auto found = given.volumes.find(*name); found != given.volumes.end())
      return &found->second;
  const auto claim = given.claims.find(volume.name);
  return claim == given.claims.end() ? nullptr : &claim->second;
}

/// Opens a directory of the pod, or the mount on it.
Result<UniqueFd> open_made(Fd parent, const std::string& name) {
  return sys::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/// Checks that the filesystem of the pod's directory has the space that containers request.
Result<void> check_requested_space(const Workload& workload, Fd directory) {
  std::uint64_t sum = 0;
  for (const Container& container : workload.pod.containers) {
    if (!container.resources.requests.storage) continue;
    sum += std::min(*container.resources.requests.storage,
                    std::numeric_limits<std::uint64_t>::max() - sum);
    OCIRUN_TRY(within(check_space(directory, sum, "ephemeral-storage: the containers request"),
                      workload.at(container.resources.place)));
  }
  return {};
}

/// Makes the directory of the pod for a volume.
Result<UniqueFd> make_directory(Fd volumes, const std::string& name) {
  OCIRUN_TRY(sys::mkdirat(volumes, name.c_str(), 0700));
  return open_made(volumes, name);
}

/// Mounts an empty filesystem on the volume's directory if the volume wants one of its own. Returns
/// the directory that containers see.
Result<UniqueFd> mount_empty(const Volume& volume, const Site& volumes, const std::string& name,
                             UniqueFd made) {
  if (volume.in_memory) {
    std::string options = "mode=0700";
    if (volume.most_bytes) options += fmt::format(",size={}", *volume.most_bytes);
    OCIRUN_TRY(mount_memory(made, options));
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
        host_(pod, given, volumes, reach, locks) {}

  Result<ReadyVolume> prepare(const Volume& volume) {
    const VolumeBinding* binding = binding_of(volume, given_);
    if (binding == nullptr && volume.kind == Volume::Source::kEmpty) return make_empty(volume);
    const bool is_secret = binding == nullptr && volume.kind == Volume::Source::kSecret;
    if (is_secret && (volume.items || volume.file_mode || volume.group ||
                      !given_.bindings.secrets.contains(volume.source)))
      return make_key_files(volume);
    ReadyVolume ready{.source = {}, .read_only = volume.read_only, .recursive = volume.recursive};
    if (binding == nullptr && !is_secret) return host_.show_named(volume, next_name(), ready);
    if (binding == nullptr) {
      ready.read_only = true;
      OCIRUN_TRY_ASSIGN(const HostPath path,
                        linux::absolute_path(given_.bindings.secrets.at(volume.source).string()));
      return host_.show_secret(path.string(), next_name(), ready);
    }
    if (binding->is_kept && host_.is_trial()) return make_empty(volume);
    if (binding->is_kept) {
      OCIRUN_TRY(make_kept(*binding, ready));
      ready.group = volume.group;
    }
    ready.read_only = ready.read_only || binding->read_only;
    OCIRUN_TRY_ASSIGN(const HostPath path, linux::absolute_path(binding->directory.string()));
    return host_.show_given(&volume, path.string(), next_name(), ready);
  }

  /// The path of --volume for a mount point without a volume (AC-8).
  Result<ReadyVolume> prepare(const VolumeBinding& binding) {
    OCIRUN_TRY_ASSIGN(const HostPath path, linux::absolute_path(binding.directory.string()));
    ReadyVolume ready{.source = {}, .read_only = binding.read_only};
    if (binding.is_kept) OCIRUN_TRY(make_kept(binding, ready));
    return host_.show_given(nullptr, path.string(), next_name(), ready);
  }

  std::vector<UniqueFd> take_locks() { return host_.take_locks(); }
  MadeOnHost take_made() { return host_.take_made(); }

 private:
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
    OCIRUN_TRY_ASSIGN(UniqueFd made, make_directory(volumes_.fd, name));
    if (reach_ == Reach::kMounted) {
      OCIRUN_TRY_ASSIGN(made, mount_empty(volume, volumes_, name, std::move(made)));
    }
    OCIRUN_TRY(sys::fchown(made, volume.uid.value(), volume.group.value_or(volume.gid).value()));
    OCIRUN_TRY(sys::fchmod(made, volume.group ? volume.mode | kGroupDirectory : volume.mode));
    if (volume.least_bytes) OCIRUN_TRY(check_space(made, *volume.least_bytes));
    return ReadyVolume{.source = fmt::format("{}/{}", volumes_.path, name),
                       .read_only = volume.read_only,
                       .recursive = volume.recursive};
  }

  /// Writes the files of a secret or a config map: for kMounted to a tmpfs, else to the disk.
  Result<ReadyVolume> make_key_files(const Volume& volume) {
    std::map<std::string, std::string> keys;
    if (!volume.is_optional || secrets_.have(volume.source)) {
      OCIRUN_TRY_ASSIGN(keys, secrets_.files(volume.source));
    }
    const std::string name = next_name();
    OCIRUN_TRY_ASSIGN(UniqueFd made, make_directory(volumes_.fd, name));
    if (reach_ == Reach::kMounted) {
      OCIRUN_TRY(mount_memory(made, "mode=0700"));
      OCIRUN_TRY_ASSIGN(made, open_made(volumes_.fd, name));
    }
    OCIRUN_TRY(sys::fchmod(made, 0755));
    OCIRUN_TRY(write_key_files(volume, keys, made, copied_));
    return ReadyVolume{
        .source = fmt::format("{}/{}", volumes_.path, name), .read_only = true, .recursive = false};
  }

  std::string next_name() { return fmt::format("{}", number_++); }

  Secrets secrets_;
  const Given& given_;
  const Site& volumes_;
  Reach reach_;
  HostVolumes host_;
  std::size_t copied_ = 0;  // bytes of keys
  unsigned number_ = 0;
};

}  // namespace

Result<void> check_space(Fd file, std::uint64_t least, std::string_view what) {
  struct statfs info{};
  if (::fstatfs(file.value, &info) != 0) return fail(errno, "find the free space");
  const std::uint64_t free =
      static_cast<std::uint64_t>(info.f_bavail) * static_cast<std::uint64_t>(info.f_bsize);
  if (free >= least) return {};
  return refuse("{} {}, and the filesystem has {} free", what, bytes_text(least), bytes_text(free));
}

Result<UniqueFd> lock_name(const std::string& locks, const std::string& name, Use use) {
  OCIRUN_TRY_ASSIGN(const UniqueFd all, linux::open_or_make_directory(HostPath(locks)));
  OCIRUN_TRY_ASSIGN(UniqueFd file,
                    sys::openat(all, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW, 0600));
  while (::flock(file.get(), (use == Use::kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0)
    if (errno != EINTR) return fail(errno == EWOULDBLOCK ? EAGAIN : errno, "lock");
  return file;
}

Result<UniqueFd> lock_volume(const std::string& locks, Fd directory, Use use) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(directory));
  return within(lock_name(locks, fmt::format("{}-{}", info.st_dev, info.st_ino), use),
                "the volume");
}

namespace {

/// The warning for a volume that is a device of the host, if containers cannot use the device as
/// the document says; "": they can.
std::string warning_of_device(const Workload& workload, const Volume& volume,
                              const ReadyVolume& ready) {
  if (!ready.device) return "";
  const std::string at = fmt::format("{}: volume \"{}\"", workload.at(volume.place), volume.name);
  const bool has_rules = linux::is_in_initial_user_namespace();
  if (has_rules && !ready.lets_open)
    return fmt::format(
        "{}: {} is a device, which containers see and may not open{}", at, volume.source,
        workload.pod.kind != Kind::kKubernetes ? ": --device gives a device of a CDI specification"
        : ready.device->type == 'b'            ? ": \"type: BlockDevice\" lets them"
                                               : ": \"type: CharDevice\" lets them");
  const auto is_read_only = [&](const Container* container) {
    return std::ranges::any_of(container->mounts, [&](const Mount& mount) {
      return mount.volume == volume.name && mount.read_only;
    });
  };
  if (has_rules || std::ranges::none_of(all_containers(workload.pod), is_read_only)) return "";
  return fmt::format(
      "{}: readOnly has no effect on the device {}: only root can keep a container from writing to "
      "a device",
      at, volume.source);
}

}  // namespace

Result<Volumes> prepare_volumes(const Workload& workload, const Given& given, const Site& site,
                                Reach reach, const std::string& locks) {
  Volumes volumes;
  OCIRUN_TRY(check_requested_space(workload, site.fd));
  OCIRUN_TRY(sys::mkdirat(site.fd, kVolumes, 0711));
  OCIRUN_TRY_ASSIGN(const UniqueFd below, open_made(site.fd, kVolumes));
  const Site inside{.fd = below, .path = fmt::format("{}/{}", site.path, kVolumes)};
  volumes.reach = reach;
  Preparation preparation(workload.pod, given, inside, reach, locks);
  for (const Volume& volume : workload.pod.volumes) {
    auto ready = preparation.prepare(volume);
    if (!ready)
      return std::unexpected(ready.error().within(
          fmt::format("{}: volume \"{}\"", workload.at(volume.place), volume.name)));
    if (std::string warning = warning_of_device(workload, volume, *ready); !warning.empty())
      volumes.warnings.push_back(std::move(warning));
    volumes.by_name.emplace(volume.name, *std::move(ready));
  }
  for (const Container* container : all_containers(workload.pod))
    for (const MountPoint& point : container->mount_points) {
      const auto binding = given.volumes.find(point.name);
      if (binding == given.volumes.end() || volumes.for_mount_points.contains(point.name)) continue;
      OCIRUN_TRY_ASSIGN(ReadyVolume ready,
                        within(preparation.prepare(binding->second), "--volume " + point.name));
      volumes.for_mount_points.emplace(point.name, std::move(ready));
    }
  volumes.locks = preparation.take_locks();
  volumes.made = preparation.take_made();
  return volumes;
}

}  // namespace ocirun::pods
