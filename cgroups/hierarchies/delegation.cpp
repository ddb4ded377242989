#include "cgroups/hierarchies/delegation.hpp"

#include <unistd.h>

#include <algorithm>

#include "cgroups/hierarchies/directory.hpp"

namespace ocirun::cgroups {
namespace {

bool is_delegated(const std::string& directory) {
  const auto found = find_directory(directory);
  return found && *found && (*found)->owner == ::geteuid();
}

}  // namespace

std::string shown_path(const Hierarchy& hierarchy) {
  std::string path = hierarchy.own_path;
  if (hierarchy.root != "/" && path.starts_with(hierarchy.root))
    path.erase(0, hierarchy.root.size());
  return path == "/" ? "" : path;
}

std::optional<std::string> delegated_cgroup(const Layout& layout) {
  if (!layout.pure_v2()) return std::nullopt;
  const Hierarchy& unified = layout.hierarchies.front();
  const std::string own = shown_path(unified);
  // First the parent of the caller's cgroup: the caller's cgroup contains processes, and therefore
  // cannot enable controllers for its children.
  for (const std::string& base : {own.substr(0, std::min(own.rfind('/'), own.size())), own})
    if (!base.empty() && is_delegated(unified.mount_point.string() + base)) return base;
  return std::nullopt;
}

}  // namespace ocirun::cgroups
