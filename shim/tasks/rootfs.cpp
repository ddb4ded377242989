#include "shim/tasks/rootfs.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/mounts/legacy.hpp"
#include "linux/mounts/options.hpp"

namespace ocirun::shim {
namespace {

namespace sys = linux::sys;

constexpr int kMostMounts = 10'000;  // on one rootfs, one over the other

linux::Mount parse(const Shim__Mount& given) {
  linux::Mount mount;
  mount.type = given.type;
  mount.source = given.source;
  mount.bind = mount.type == "bind";
  for (std::size_t i = 0; i < given.n_options; ++i)
    linux::apply_mount_option(mount, given.options[i]);
  return mount;
}

Result<void> bind(const linux::Mount& mount, const std::string& target) {
  OCIRUN_TRY_ASSIGN(const UniqueFd source, sys::open(mount.source.c_str(), O_PATH | O_CLOEXEC));
  OCIRUN_TRY_ASSIGN(const UniqueFd point, sys::open(target.c_str(), O_PATH | O_CLOEXEC));
  const auto recursion = mount.recursive ? linux::Recursion::kTree : linux::Recursion::kTop;
  OCIRUN_TRY_ASSIGN(const auto clone, linux::DetachedMount::clone_of(source, recursion));
  OCIRUN_TRY(linux::set_mount_attributes(clone.fd(), mount.attributes, linux::Recursion::kTop,
                                         mount.propagation));
  return clone.attach(point);
}

/// Directories of an overlay, as the kernel separates them.
std::string_view value_of(std::string_view option) {
  for (const std::string_view name : {"lowerdir=", "upperdir=", "workdir="})
    if (option.starts_with(name)) return option.substr(name.size());
  return {};
}

/// The longest directory that all directories of the options are below, with its last slash.
std::string common_directory(const std::vector<std::string>& options) {
  std::string common;
  for (const std::string& option : options)
    for (const std::string_view path : linux::words(value_of(option), ':')) {
      if (common.empty()) common = path;
      std::size_t same = 0;
      while (same < common.size() && same < path.size() && common[same] == path[same]) ++same;
      common.resize(same);
    }
  common.resize(common.rfind('/') + 1);
  return common;
}

/// The options with paths relative to `directory`.
std::string shortened(const std::vector<std::string>& options, const std::string& directory) {
  std::vector<std::string> shorter;
  for (const std::string& option : options) {
    std::vector<std::string_view> paths = linux::words(value_of(option), ':');
    for (std::string_view& path : paths) path.remove_prefix(directory.size());
    shorter.push_back(paths.empty() ? option
                                    : fmt::format("{}={}", option.substr(0, option.find('=')),
                                                  fmt::join(paths, ":")));
  }
  return fmt::to_string(fmt::join(shorter, ","));
}

/// mount(2) takes options of at most a page. Longer ones of an overlay are written relative to the
/// directory that all its layers are in, which is the working directory meanwhile.
Result<void> make(const linux::Mount& mount, const std::string& target) {
  const auto flags = static_cast<unsigned long>(mount.superblock_flags |
                                                linux::legacy::mount_flags(mount.attributes.set));
  std::string data = fmt::to_string(fmt::join(mount.data, ","));
  const auto page = static_cast<std::size_t>(::getpagesize());
  if (data.size() < page)
    return sys::mount(mount.source.c_str(), target.c_str(), mount.type.c_str(), flags,
                      data.c_str());
  const std::string directory = common_directory(mount.data);
  data = shortened(mount.data, directory);
  if (directory.empty() || data.size() >= page)
    return refuse("its options have {} bytes, at most {} are possible", data.size(), page - 1);
  OCIRUN_TRY_ASSIGN(const UniqueFd before, sys::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  OCIRUN_TRY(within(sys::chdir(directory.c_str()), "enter {}", directory));
  auto made =
      sys::mount(mount.source.c_str(), target.c_str(), mount.type.c_str(), flags, data.c_str());
  OCIRUN_TRY(sys::fchdir(before));
  return made;
}

}  // namespace

Result<void> mount_rootfs(std::span<Shim__Mount* const> mounts, const std::string& target) {
  for (const Shim__Mount* given : mounts) {
    const linux::Mount mount = parse(*given);
    auto made = within(mount.bind ? bind(mount, target) : make(mount, target),
                       "mount the root filesystem ({} of {})", mount.type, mount.source);
    if (made) continue;
    ignore(unmount_rootfs(target));
    return made;
  }
  return {};
}

Result<void> unmount_rootfs(const std::string& target) {
  for (int i = 0; i < kMostMounts; ++i) {
    auto unmounted = sys::unmount(target.c_str(), sys::kDetach | UMOUNT_NOFOLLOW);
    if (unmounted) continue;
    // EINVAL: nothing is mounted there.
    if (unmounted.error().number() == EINVAL || is_missing(unmounted)) return {};
    return unmounted;
  }
  return refuse("{}: more than {} file systems are mounted on it", target, kMostMounts);
}

}  // namespace ocirun::shim
