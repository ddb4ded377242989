#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/hierarchies/placement.hpp"
#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"

namespace ocirun::cgroups {

/// What has to be known to find a container's cgroup again: kept in intent and state.
struct Record {
  std::string path;  // the placement
  std::vector<std::pair<std::string, std::string>>
      directories;  // controllers ("cpu,cpuacct", "name=systemd", "" for unified), host directory
  std::vector<std::string>
      created_parents;  // directories that create() made above them, deepest first
  std::vector<std::pair<std::string, std::string>> handed_down =
      {};                 // controllers, directory: switched on there for us (unified hierarchy)
  std::string unit = {};  // the scope that systemd made for it, "" without systemd
  bool user_instance = false;  // by the systemd of an ordinary user
  friend bool operator==(const Record&, const Record&) = default;
};

/// The record of a cgroup that is not made yet.
Record planned_record(const Layout& layout, const Placement& placement);

/// Errors: `record` names anything but directories of cgroupfs, as a damaged or forged one does.
Result<void> check_shape(const Record& record);
/// The directories above those of `record` that are not there yet, deepest first.
std::vector<std::string> missing_parents(const Record& record);
/// For records that `owner` wrote and not we: its directories must be the ones that `layout` gives
/// for its path, and those that exist must belong to `owner`. Returns only those: a missing one may
/// be made by somebody else meanwhile, and what lies above them may be in use by others.
Result<Record> check_record(Record record, const Layout& layout, Uid owner);

}  // namespace ocirun::cgroups
