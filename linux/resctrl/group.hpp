#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"

namespace ocirun::linux {

/// linux.intelRdt (I-1 … I-10).
struct IntelRdt {
  std::optional<std::string> clos_id{};
  std::optional<std::string> l3_cache_schema{};
  std::optional<std::string> mem_bw_schema{};
  std::optional<std::vector<std::string>> schemata{};
  bool enable_monitoring = false;
};

/// Whether a CLOS may be called so: one directory name that is none of resctrl's own, or "/", the
/// default CLOS (I-3).
bool is_clos_name(std::string_view name);
/// Errors name the field: a closID that is no name of a CLOS (I-3),
/// a memBwSchema without "MB:", a line feed in a schema (I-7).
Result<void> check_resctrl(const IntelRdt& rdt);

/// What apply_resctrl made and remove_resctrl takes away again.
struct ResctrlGroups {
  std::string clos_path;     // "" when it existed before or was named by closID (I-2)
  std::string monitor_path;  // "" without monitoring
  friend bool operator==(const ResctrlGroups&, const ResctrlGroups&) = default;
};

/// The mount point of resctrl in the caller's mountinfo; ENOENT when it is not mounted (I-1).
Result<HostPath> find_resctrl();
/// Creates or checks the CLOS, writes the schemata in order (I-4 … I-6), puts `pid` into tasks
/// (I-9) and into a monitoring group (I-8). `root` is a resctrl mount, or a fixture tree in tests.
/// What it made is undone on error.
Result<ResctrlGroups> apply_resctrl(const HostPath& root, const IntelRdt& rdt,
                                    const std::string& container_id, int pid);
/// Changes an existing CLOS ("/", a closID or a container's id): writes `lines` such as
/// "L3:0=7f0;1=1f", all or nothing. Yields the lines that were there for the same resources, which
/// take it back. Errors: no such CLOS; what the kernel says of a line.
Result<std::vector<std::string>> update_resctrl(const HostPath& root, const std::string& clos,
                                                const std::vector<std::string>& lines);
/// Removes the groups; one that is gone already is no error.
Result<void> remove_resctrl(const ResctrlGroups& groups);

}  // namespace ocirun::linux
