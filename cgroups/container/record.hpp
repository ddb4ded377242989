#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/hierarchies/node.hpp"
#include "cgroups/hierarchies/placement.hpp"
#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"

namespace ocirun::cgroups {

/// What is needed to find a container's cgroup again. Kept in the container's intent and state
/// files.
struct Record {
  std::string path;  // the cgroup's path below each mount point (Placement)
  std::vector<std::pair<std::string, std::string>>
      directories;  // controllers ("cpu,cpuacct", "name=systemd", "" for unified), host directory
  std::vector<std::string>
      created_parents;  // directories that create() made above `directories`, deepest first
  std::vector<std::pair<std::string, std::string>> handed_down =
      {};  // controller and directory: those that we enabled there (unified hierarchy)
  std::string unit = {};       // the scope that systemd made for the cgroup, "" without systemd
  bool user_instance = false;  // the scope is of an ordinary user's systemd
  friend bool operator==(const Record&, const Record&) = default;
};

/// The record of a cgroup that does not exist yet.
Record planned_record(const Layout& layout, const Placement& placement);

/// Errors: `record` names anything but directories of cgroupfs, as a damaged or forged record does.
Result<void> check_shape(const Record& record);
/// The cgroup's node in each hierarchy, none of them opened, in the order of `record.directories`.
std::vector<Node> nodes_of(const Record& record);
/// The directories above those of `record` that do not exist yet, deepest first.
std::vector<std::string> missing_parents(const Record& record);
/// Checks a record that another user, `owner`, wrote. Its directories must be the ones that
/// `layout` gives for its path, and the existing ones must belong to `owner`. Returns only the
/// existing ones: somebody else may make a missing one meanwhile. The returned record names no
/// parents and no enabled controllers, because others may be using them.
Result<Record> check_record(Record record, const Layout& layout, Uid owner);

}  // namespace ocirun::cgroups
