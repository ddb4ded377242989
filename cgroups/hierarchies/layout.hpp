#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/paths.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::cgroups {

/// One cgroup hierarchy of this host. Hierarchies are never read from a directory listing, because
/// tools leave stray directories in the tmpfs at /sys/fs/cgroup.
struct Hierarchy {
  HostPath mount_point;  // where the hierarchy is mounted
  std::string root;  // the hierarchy's directory that is mounted there ("/", or "/.." in a cgroup
                     // namespace)
  std::vector<std::string>
      controllers;  // v1: "cpu", "cpuacct"; "name=systemd"; empty for the unified one
  bool unified = false;
  std::string own_path;  // the runtime's own cgroup in it (/proc/self/cgroup)
};
struct Layout {
  std::vector<Hierarchy> hierarchies;
  bool pure_v2() const;  // only the unified hierarchy is mounted
};

/// The layout of the calling process's mount namespace.
Result<Layout> read_layout(const linux::Procfs& procfs);
/// The layout of most hosts: the unified hierarchy alone, all of it at /sys/fs/cgroup. Saves the
/// reading of the mount table, which takes 0.35 us for each mount of the host. `own_cgroups` is the
/// text of /proc/self/cgroup. Returns nothing on a host of another layout and in a cgroup
/// namespace.
std::optional<Layout> usual_layout(const linux::Procfs& procfs, std::string_view own_cgroups);
/// Parses the texts of /proc/self/mountinfo and /proc/self/cgroup. Of several mounts of one
/// hierarchy, takes the one that shows most of it. Mounts that another mount covers are skipped.
/// Errors: no cgroup hierarchy is mounted.
Result<Layout> parse_layout(std::string_view mountinfo, std::string_view own_cgroups);

/// The parent of the cgroups of containers that name no absolute path.
inline constexpr std::string_view kOwnParent = "/ocirun";

/// The place of a container's cgroup in the hierarchies (R-1 … R-4).
struct Placement {
  std::string path;  // below each hierarchy's mount point, absolute, normal, never "/"
};

/// An absolute `cgroups_path` is that path below every mount point, a relative "a/b" is
/// /ocirun/a/b, and an absent or empty one is /ocirun/<id>. Errors: a ".." in it, the root cgroup
/// itself, control characters (cgroupfs refuses newlines), a part longer than 255 bytes.
Result<Placement> place(const std::optional<std::string>& cgroups_path, const std::string& id);

/// "a//./b" becomes "/a/b". Same errors as place(), but "/" is allowed. `what` names the text in
/// errors.
Result<std::string> normal_path(std::string_view text, std::string_view what);

/// Whether normal_path() returns `text` itself, and `text` is not "/".
bool is_normal_path(std::string_view text);

/// The caller's own cgroup as a path below the mount point of the hierarchy; "" for the cgroup that
/// is mounted there.
std::string shown_path(const Hierarchy& hierarchy);

/// Whether the caller is root outside the caller's user namespace too, and owns the hierarchies
/// themselves. Nobody has to delegate a cgroup to such a caller.
bool owns_hierarchies(const Layout& layout);

/// The cgroup below which a caller who is not the host's root may make others (cgroups(7),
/// delegation): the parent of the caller's cgroup, else the caller's own. A cgroup is delegated if
/// the caller owns its directory; if owns_hierarchies(), systemd must have marked it too. Returns a
/// path below the mount point of the only hierarchy, and never that mount point. Returns nothing if
/// the host has a hierarchy of v1, or no cgroup is delegated to the caller.
std::optional<std::string> delegated_cgroup(const Layout& layout);

/// Frees the cgroup of a service for cgroups below it. If systemd has delegated the caller's cgroup
/// to a caller who is alone in it, moves the caller into the new cgroup "supervisor" below it, and
/// returns the delegated cgroup as a path below the mount point: the kernel lets nobody enable
/// controllers for the children of a cgroup that holds processes. Returns nothing, and changes
/// nothing, in any other case, and on a host with a hierarchy of v1. Errors: the caller cannot be
/// moved.
Result<std::optional<std::string>> leave_delegated_cgroup(const Layout& layout);

/// The maker of a container's cgroup: ocirun in the cgroup file system, systemd as a scope, or
/// nobody (`--cgroup-manager`).
enum class Manager : std::uint8_t { kCgroupfs, kSystemd, kDisabled };

inline constexpr linux::Named<Manager> kManagerNames[] = {
    {"cgroupfs", Manager::kCgroupfs},
    {"systemd", Manager::kSystemd},
    {"disabled", Manager::kDisabled},
};

}  // namespace ocirun::cgroups
