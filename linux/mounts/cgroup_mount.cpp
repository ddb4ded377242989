#include "linux/mounts/cgroup_mount.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/legacy.hpp"
#include "linux/mounts/place.hpp"

namespace ocirun::linux {
namespace {

/// The attributes to set on each mount. A new mount has no attributes to clear. A bind keeps the
/// attributes of the host's mount.
std::uint64_t attributes_of(const Mount& mount) {
  return combine(mount.recursive_attributes, mount.attributes).set;
}

Result<UniqueFd> bind_own(const Mount& mount, const MountPoint& point,
                          const CgroupHierarchy& hierarchy) {
  OCIRUN_TRY_ASSIGN(const UniqueFd own,
                    sys::open(hierarchy.own_directory.c_str(), O_PATH | O_DIRECTORY));
  Placement placement;
  placement.attributes.set = attributes_of(mount);
  // mount_setattr(2) takes an atime mode only if MOUNT_ATTR__ATIME is cleared as well. relatime has
  // no bit: without noatime or strictatime, the bind keeps the atime mode of the host's mount.
  if (placement.attributes.set & MOUNT_ATTR__ATIME) placement.attributes.clear = MOUNT_ATTR__ATIME;
  return within(place_bind(point, own, placement), "bind " + hierarchy.own_directory.string());
}

/// A new mount shows the root of the cgroup namespace. Without an own cgroup namespace, a new mount
/// would show the host's root. In this case, and where the kernel refuses a new mount, the cgroup
/// directory of the container is bound.
Result<UniqueFd> place_hierarchy(const MountContext& context, const Mount& mount,
                                 const MountPoint& point, const CgroupHierarchy& hierarchy) {
  if (!context.own_cgroup_namespace) return bind_own(mount, point, hierarchy);
  Filesystem filesystem;
  filesystem.type = hierarchy.unified ? "cgroup2" : "cgroup";
  filesystem.source = "cgroup";
  const auto options = words(hierarchy.options, ',');
  filesystem.data.assign(options.begin(), options.end());
  auto made = place_filesystem(point, filesystem, attributes_of(mount));
  if (!made && !context.in_root_namespace &&
      (made.error().number() == EPERM || made.error().number() == EBUSY))
    return bind_own(mount, point, hierarchy);
  return made;
}

/// Links "cpu" and "cpuacct" to the directory "cpu,cpuacct".
Result<void> link_controllers(Fd directory, const std::string& name) {
  const auto controllers = words(name, ',');
  if (controllers.size() < 2) return {};
  for (const std::string_view controller : controllers)
    OCIRUN_TRY(sys::symlinkat(name.c_str(), directory, std::string(controller).c_str()));
  return {};
}

/// Mounts a hierarchy on its directory in the tmpfs `top`, which is the working directory. Only
/// this process can reach the new tmpfs, so mount(2) may take a name there: one call instead of
/// eight. Where the kernel refuses this, place_hierarchy() tries other ways, or says why.
Result<void> mount_hierarchy(const MountContext& context, const Mount& mount,
                             const MountPoint& point, Fd top, const CgroupHierarchy& hierarchy) {
  const std::string& name = hierarchy.name;
  OCIRUN_TRY(sys::mkdirat(top, name.c_str(), 0755));
  if (context.own_cgroup_namespace &&
      sys::mount("cgroup", name.c_str(), hierarchy.unified ? "cgroup2" : "cgroup",
                 static_cast<unsigned long>(legacy::mount_flags(attributes_of(mount))),
                 hierarchy.options.c_str()))
    return {};
  OCIRUN_TRY_ASSIGN(UniqueFd target,
                    sys::openat(top, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
  const MountPoint below{context.root, context.procfs, RootfsPath(point.path.string() + "/" + name),
                         std::move(target), true};
  OCIRUN_TRY(place_hierarchy(context, mount, below, hierarchy));
  return {};
}

Result<void> mount_hierarchies(const MountContext& context, const Mount& mount,
                               const MountPoint& point, Fd top) {
  for (const CgroupHierarchy& hierarchy : context.cgroups) {
    OCIRUN_TRY(within(mount_hierarchy(context, mount, point, top, hierarchy), hierarchy.name));
    OCIRUN_TRY(within(link_controllers(top, hierarchy.name), hierarchy.name));
  }
  return {};
}

/// Mounts a tmpfs with a directory for each hierarchy. If the host has no mounted hierarchies, the
/// tmpfs stays empty.
Result<UniqueFd> place_all_hierarchies(const MountContext& context, const Mount& mount,
                                       const MountPoint& point) {
  Filesystem tmpfs;
  tmpfs.type = "tmpfs";
  tmpfs.source = "cgroup";
  tmpfs.selinux_context = context.mount_label;
  tmpfs.data = {"mode=755"};
  const std::uint64_t wanted = attributes_of(mount);
  OCIRUN_TRY_ASSIGN(UniqueFd top,
                    place_filesystem(point, tmpfs, wanted & ~std::uint64_t{MOUNT_ATTR_RDONLY}));
  OCIRUN_TRY_ASSIGN(const UniqueFd before, sys::open(".", O_PATH | O_DIRECTORY));
  OCIRUN_TRY(sys::fchdir(top));
  const auto mounted = mount_hierarchies(context, mount, point, top);
  OCIRUN_TRY(sys::fchdir(before));
  OCIRUN_TRY(mounted);
  if (wanted & MOUNT_ATTR_RDONLY)
    OCIRUN_TRY(change_attributes(context.procfs, top, {.set = MOUNT_ATTR_RDONLY}, Recursion::kTop));
  return top;
}

}  // namespace

Result<UniqueFd> place_cgroups(const MountContext& context, const Mount& mount,
                               const MountPoint& point) {
  if (!mount.data.empty())
    return refuse("a mount of type {:?} takes no filesystem options: {}", mount.type,
                  fmt::join(mount.data, ","));
  const bool pure_v2 = context.cgroups.size() == 1 && context.cgroups.front().unified;
  Result<UniqueFd> made = pure_v2 ? place_hierarchy(context, mount, point, context.cgroups.front())
                                  : place_all_hierarchies(context, mount, point);
  if (!made) return made;
  OCIRUN_TRY(change_propagation(context.procfs, *made, mount.propagation,
                                mount.propagation_recursive ? Recursion::kTree : Recursion::kTop));
  return made;
}

}  // namespace ocirun::linux
