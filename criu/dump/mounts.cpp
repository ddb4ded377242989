#include "criu/dump/mounts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <ranges>
#include <string_view>
#include <vector>

#include "criu/dump/places.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

// Whether CRIU binds the mount: the container's root, or a mount of the host. ocirun names a mount
// of the host by the destination, which begins with "/". CRIU itself gives names such as
// "CRIU:EXTERNAL_DEV".
bool is_bound(const ImageMount& mount) {
  return mount.is_containers_root || mount.external.starts_with('/');
}

bool is_top(const ImageMount& mount) {
  return mount.root.find_first_not_of("./") == std::string::npos;
}

// Whether CRIU mounts a new file system. For a mount of a subdirectory, CRIU binds another mount.
bool is_new(const ImageMount& mount) {
  return !is_bound(mount) && !mount.type.empty() && is_top(mount);
}

// Whether the value of the option is an absolute or a relative path.
bool names_a_path(std::string_view option) {
  constexpr std::string_view kNames[] = {"lowerdir", "upperdir", "workdir", "datadir"};
  return option.contains('/') || std::ranges::any_of(kNames, [&](std::string_view name) {
           return option.starts_with(name);
         });
}

// Whether `wanted`, a mount of config.json, has the type and the source of `mount`, and each option
// of `mount` with a path.
bool is_wanted(const ImageMount& mount, const linux::Mount& wanted) {
  if (wanted.bind || wanted.type != mount.type || wanted.source != mount.source) return false;
  return std::ranges::all_of(linux::split(mount.options, ','), [&](std::string_view option) {
    return !names_a_path(option) || std::ranges::find(wanted.data, option) != wanted.data.end();
  });
}

bool shares_superblock(const ImageMount& one, const ImageMount& other) {
  return one.type == other.type && one.device == other.device && one.source == other.source &&
         one.options == other.options;
}

// Allows name=NAME, and no other option with a value: the kernel runs the program of the option
// release_agent=PROGRAM on the host.
Result<void> check_options_of_cgroups(const ImageMount& mount) {
  for (const std::string_view option : linux::split(mount.options, ','))
    if (option.contains('=') && !option.starts_with("name="))
      return refuse("the images mount cgroups on {:?} with the option {:?}", mount.point, option);
  return {};
}

// Allows only the flags that are options of a mount. CRIU gives the flags to mount(2): with
// MS_BIND, MS_MOVE or MS_REMOUNT, mount(2) would bind, move or change a mount of any type.
Result<void> check_flags(const ImageMount& mount) {
  constexpr std::uint32_t kOptions = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_SYNCHRONOUS |
                                     MS_MANDLOCK | MS_DIRSYNC | MS_NOSYMFOLLOW | MS_NOATIME |
                                     MS_NODIRATIME | MS_SILENT | MS_POSIXACL | MS_RELATIME |
                                     MS_I_VERSION | MS_STRICTATIME | MS_LAZYTIME;
  // CRIU removes these flags from `mount.flags`, but not from `mount.superblock_flags`.
  constexpr std::uint32_t kPropagation = MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE;
  const std::uint32_t others =
      (mount.flags & ~(kOptions | kPropagation)) | (mount.superblock_flags & ~kOptions);
  if (others == 0) return {};
  return refuse("the images mount {:?} with the flags {:#x}, which are no options of a mount",
                mount.point, others);
}

Result<void> check_paths(const ImageMount& mount) {
  for (const std::string& path : {mount.point, mount.root})
    if (leads_up(path))
      return refuse(
          "the images have a mount with the path {:?}: criu would follow \"..\" to files of the "
          "host",
          path);
  return {};
}

/// Checks each mount of the images.
class MountCheck {
 public:
  MountCheck(const std::vector<ImageMount>& of_init, const bundle::Config& config)
      : config_(config) {
    const auto root = std::ranges::find(of_init, true, &ImageMount::is_containers_root);
    if (root != of_init.end()) root_ = *root;
  }

  Result<void> run(const std::vector<ImageMount>& mounts) const {
    for (const ImageMount& mount : mounts) {
      OCIRUN_TRY(check_paths(mount));
      OCIRUN_TRY(check_flags(mount));
      // CRIU would make the deleted source again, and a symlink in the root file system could
      // redirect the path.
      if (mount.is_deleted && !is_bound(mount))
        return refuse("the images mount {:?}, of which the source had been deleted", mount.point);
      if (showing_of(mount.type) == Showing::kCgroups) OCIRUN_TRY(check_options_of_cgroups(mount));
      OCIRUN_TRY(check_type(mount));
    }
    return {};
  }

 private:
  Result<void> check_type(const ImageMount& mount) const {
    if (!is_new(mount) || showing_of(mount.type)) return {};
    // A further mount namespace inside of the container has the container's root again.
    const bool is_root_again =
        mount.type == "overlay" && is_top(root_) && shares_superblock(mount, root_);
    const bool is_documented = std::ranges::any_of(
        config_.mounts, [&](const linux::Mount& wanted) { return is_wanted(mount, wanted); });
    const bool is_hosts = mount.type == "devtmpfs" || mount.type == "binfmt_misc";
    if ((is_root_again || is_documented) && !is_hosts) return {};
    return refuse(
        "the images mount a file system of type {:?} on {:?}: {}; allowed are {}, and other types "
        "that config.json mounts with the same source and options",
        mount.type, mount.point,
        is_hosts ? "the host has only one, and criu would put into it what the images have"
                 : "it could show files of the host",
        fmt::join(mountable_types() | std::views::transform(&FilesystemType::name), ", "));
  }

  const bundle::Config& config_;
  ImageMount root_;
};

constexpr FilesystemType kMountable[] = {
    {"proc", Showing::kKernels},    {"sysfs", Showing::kKernels},
    {"mqueue", Showing::kKernels},  {"pstore", Showing::kKernels},
    {"fusectl", Showing::kKernels}, {"securityfs", Showing::kKernels},
    {"debugfs", Showing::kKernels}, {"tracefs", Showing::kKernels},
    {"autofs", Showing::kKernels},  {"tmpfs", Showing::kNew},
    {"devpts", Showing::kNew},      {"cgroup", Showing::kCgroups},
    {"cgroup2", Showing::kCgroups},
};

}  // namespace

Result<void> check_image_mounts(const Images& images, const bundle::Config& config) {
  const MountCheck check(images.mounts, config);
  OCIRUN_TRY(check.run(images.mounts));
  return check.run(images.other_mounts);
}

std::span<const FilesystemType> mountable_types() { return kMountable; }

std::optional<Showing> showing_of(std::string_view type) {
  const auto found = std::ranges::find(kMountable, type, &FilesystemType::name);
  return found == std::end(kMountable) ? std::nullopt : std::optional(found->showing);
}

}  // namespace ocirun::runtime
