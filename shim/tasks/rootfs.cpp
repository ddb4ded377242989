#include "shim/tasks/rootfs.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/mounts/legacy.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/mounts/options.hpp"
#include "linux/namespaces/id_map.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::shim {
namespace {

namespace sys = linux::sys;

constexpr int kMostMounts = 10'000;  // on one rootfs, one over the other

/// A mount of containerd. `id_map` is what the lower layers of an overlay get (containerd 2, for a
/// pod with a user namespace).
struct Layer {
  linux::Mount mount;
  linux::IdMap id_map;
};

/// "CONTAINER:HOST:SIZE,…" Errors: other forms.
Result<std::vector<linux::IdMapping>> parse_mappings(std::string_view text) {
  std::vector<linux::IdMapping> mappings;
  for (const std::string_view part : linux::split(text, ',')) {
    const auto numbers = linux::split(part, ':');
    std::vector<std::uint32_t> values;
    for (const std::string_view number : numbers)
      if (const auto value = linux::number<std::uint32_t>(number)) values.push_back(*value);
    if (numbers.size() != 3 || values.size() != 3)
      return refuse("\"{}\" is no mapping CONTAINER:HOST:SIZE", part);
    mappings.push_back({values[0], values[1], values[2]});
  }
  OCIRUN_TRY(linux::check_id_mappings(mappings));
  return mappings;
}

Result<Layer> parse(const Shim__Mount& given) {
  Layer layer;
  linux::Mount& mount = layer.mount;
  mount.type = given.type;
  mount.source = given.source;
  mount.bind = mount.type == "bind";
  if (*given.target != '\0')
    return refuse("its target is a directory in the root filesystem: only the root is supported");
  for (const std::string_view option : std::span(given.options, given.n_options)) {
    std::string_view value = option;
    const std::string_view name = linux::cut(value, '=');
    if (name == "loop") return refuse("its option \"loop\" is not supported");
    if (name == "uidmap") {
      OCIRUN_TRY_ASSIGN(layer.id_map.uids, within(parse_mappings(value), "uidmap"));
    } else if (name == "gidmap") {
      OCIRUN_TRY_ASSIGN(layer.id_map.gids, within(parse_mappings(value), "gidmap"));
    } else {
      linux::apply_mount_option(mount, std::string(option));
    }
  }
  if (layer.id_map.uids.empty() != layer.id_map.gids.empty())
    return refuse("it has one of the options uidmap and gidmap: both are necessary");
  if (!layer.id_map.empty() && mount.type != "overlay")
    return refuse("its options uidmap and gidmap are supported for an overlay alone");
  return layer;
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

constexpr std::string_view kLower = "lowerdir=";

/// The directories in an option of an overlay, with ":" between them; "" for any other option.
std::string_view value_of(std::string_view option) {
  for (const std::string_view name :
       {kLower, std::string_view("upperdir="), std::string_view("workdir=")})
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

/// Lays the id-mapped clone of a directory over the directory.
Result<void> cover(const linux::Procfs& procfs, const std::string& directory, Fd user_namespace) {
  linux::Mount mount;
  mount.bind = true;
  mount.source = directory;
  OCIRUN_TRY_ASSIGN(UniqueFd tree, linux::open_id_mapped_bind(procfs, mount, user_namespace));
  OCIRUN_TRY_ASSIGN(const UniqueFd point, sys::open(directory.c_str(), O_PATH | O_DIRECTORY));
  return linux::DetachedMount(std::move(tree)).attach(point);
}

/// Makes an overlay in a mount namespace in which its lower layers are id-mapped, and moves the
/// overlay into the mount namespace of the caller.
Result<void> make_id_mapped(const Layer& layer, const std::string& target) {
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::of_host());
  OCIRUN_TRY_ASSIGN(const UniqueFd users, linux::make_user_namespace(procfs.fd(), layer.id_map));
  OCIRUN_TRY_ASSIGN(const UniqueFd own,
                    linux::open_namespace(procfs.fd(), ::getpid(), linux::NamespaceKind::kMount));
  OCIRUN_TRY_ASSIGN(const UniqueFd point, sys::open(target.c_str(), O_PATH | O_DIRECTORY));
  if (::unshare(CLONE_NEWNS) != 0) return fail(errno, "make a mount namespace");
  auto made = [&]() -> Result<linux::DetachedMount> {
    OCIRUN_TRY(sys::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr));
    for (const std::string& option : layer.mount.data)
      if (option.starts_with(kLower))
        for (const std::string_view directory : linux::words(value_of(option), ':'))
          OCIRUN_TRY(cover(procfs, std::string(directory), users));
    OCIRUN_TRY(make(layer.mount, target));
    OCIRUN_TRY_ASSIGN(const UniqueFd overlay, sys::open(target.c_str(), O_PATH | O_DIRECTORY));
    return linux::DetachedMount::clone_of(overlay, linux::Recursion::kTop);
  }();
  if (::setns(own.get(), CLONE_NEWNS) != 0) return fail(errno, "return to the mount namespace");
  if (!made) return std::unexpected(made.error());
  return made->attach(point);
}

Result<void> mount_one(const Shim__Mount& given, const std::string& target) {
  OCIRUN_TRY_ASSIGN(const Layer layer, parse(given));
  if (layer.mount.bind) return bind(layer.mount, target);
  return layer.id_map.empty() ? make(layer.mount, target) : make_id_mapped(layer, target);
}

}  // namespace

Result<void> mount_rootfs(std::span<Shim__Mount* const> mounts, const std::string& target) {
  for (const Shim__Mount* given : mounts) {
    auto made = within(mount_one(*given, target), "mount the root filesystem ({} of {})",
                       given->type, given->source);
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
