#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::cgroups {

/// Where this host mounts one cgroup hierarchy. Read from mountinfo, never from a directory listing
/// (tools leave stray directories in the tmpfs at /sys/fs/cgroup).
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
/// Parses the texts of /proc/self/mountinfo and /proc/self/cgroup. Of several mounts of one
/// hierarchy, takes the one that shows most of it. Mounts that another mount covers are skipped.
/// Errors: no cgroup hierarchy is mounted.
Result<Layout> parse_layout(std::string_view mountinfo, std::string_view own_cgroups);

}  // namespace ocirun::cgroups
