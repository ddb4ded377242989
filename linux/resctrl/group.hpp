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

/// Whether `name` may name a CLOS: one directory name that resctrl itself does not use, or "/", the
/// default CLOS (I-3).
bool is_clos_name(std::string_view name);
/// Errors name the field: a closID that cannot name a CLOS (I-3), a memBwSchema without "MB:", a
/// newline in a schema (I-7).
Result<void> check_resctrl(const IntelRdt& rdt);

/// The directories that apply_resctrl() made and remove_resctrl() removes.
struct ResctrlGroups {
  std::string clos_path;     // "" when it existed before or was named by closID (I-2)
  std::string monitor_path;  // "" without monitoring
  friend bool operator==(const ResctrlGroups&, const ResctrlGroups&) = default;
};

/// The mount point of resctrl in the caller's mountinfo; ENOENT when it is not mounted (I-1).
Result<HostPath> find_resctrl();
/// Creates or checks the CLOS, writes the schemata in order (I-4 … I-6), and puts `pid` into its
/// tasks file (I-9) and into a monitoring group (I-8). `root` is a resctrl mount, or a fixture tree
/// in tests. On error, everything that this made is removed.
Result<ResctrlGroups> apply_resctrl(const HostPath& root, const IntelRdt& rdt,
                                    const std::string& container_id, int pid);
/// Writes `lines` such as "L3:0=7f0;1=1f" to an existing CLOS ("/", a closID or a container's id),
/// all or nothing. Returns the old lines of the same resources, with which the caller can undo the
/// change. Errors: no such CLOS; the kernel refuses a line.
Result<std::vector<std::string>> update_resctrl(const HostPath& root, const std::string& clos,
                                                const std::vector<std::string>& lines);
/// Removes the groups. A missing group is no error.
Result<void> remove_resctrl(const ResctrlGroups& groups);

/// The lines of `rdt` in the order of writing: l3CacheSchema, memBwSchema, schemata (I-4).
std::vector<std::string> schema_lines(const IntelRdt& rdt);

/// The text of the file schemata of a CLOS ("/", a closID or a container's id). Errors: no such
/// CLOS.
Result<std::string> read_schemata(const HostPath& root, const std::string& clos);

/// Whether `schemata`, the text of that file, contains every "resource:domain=value" of `line`.
/// Blanks, leading zeros and upper-case hexadecimal digits make no difference. Errors: the line
/// does not have the form "L3:0=7f0;1=1f".
Result<bool> schemata_agree(std::string_view line, std::string_view schemata);

/// The lines of `schemata`, the text of that file, for the resources that occur in `lines`.
std::vector<std::string> schemata_of(std::string_view schemata,
                                     const std::vector<std::string>& lines);

}  // namespace ocirun::linux
