#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/hierarchies/node.hpp"
#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"

namespace ocirun::cgroups {

/// The facts by which a container's cgroup is found again. The intent and state files of the
/// container hold them.
struct Record {
  std::string path;  // the cgroup's path below each mount point (Placement)
  std::vector<std::pair<std::string, std::string>>
      directories;  // controllers ("cpu,cpuacct", "name=systemd", "" for unified), host directory
  std::vector<std::string>
      created_parents;  // directories that create() made above `directories`, deepest first
  std::vector<std::pair<std::string, std::string>> handed_down =
      {};  // a controller, and the directory in whose cgroup.subtree_control ocirun enabled it
  std::string unit = {};       // the scope that systemd made for the cgroup, "" without systemd
  bool user_instance = false;  // the scope is of an ordinary user's systemd
  friend bool operator==(const Record&, const Record&) = default;
};

/// The record of a cgroup that does not exist yet.
Record planned_record(const Layout& layout, const Placement& placement);

/// Refuses a record that names anything but directories of cgroupfs, as a damaged or forged record
/// does.
Result<void> check_shape(const Record& record);
/// The cgroup's node in each hierarchy, none of them opened, in the order of `record.directories`.
std::vector<Node> nodes_of(const Record& record);
/// As nodes_of(), but only the nodes that can freeze the cgroup: that of the controller freezer,
/// and that of the unified hierarchy.
std::vector<Node> nodes_with_freezer(const Record& record);
/// The missing parents of each directory in `record.directories`, deepest first.
std::vector<std::string> missing_parents(const Record& record);
/// Checks a record that another user, `owner`, wrote. Its directories must be the ones that
/// `layout` gives for its path, and the existing ones must belong to `owner`. The returned record
/// names only the existing directories, because somebody else may make a missing one meanwhile. It
/// names no parents and no enabled controllers, because others may be using them. An empty record
/// means that no directory exists.
Result<Record> check_record(Record record, const Layout& layout, Uid owner);

// A container's cgroup carries a mark that says which container it belongs to. `create` learns from
// it that an existing empty cgroup is left over. `delete` learns from it whose a cgroup at the
// recorded path is, and finds the cgroup by it when no state file says the path. The mark is an
// extended attribute of the cgroup in the first hierarchy of the record. Written by root of the
// host, it is a trusted.* attribute, which only root of the host can write. Written by any other
// user, it is a user.* attribute (Linux 5.7), which the container can write as well.

/// Marks the cgroup with `text`. Errors: the kernel has no such attributes; `text` is too long
/// for one (64 KiB); EACCES: the cgroup is closed to the caller.
Result<void> write_mark(const Record& cgroup, const std::string& text);
/// The mark of the cgroup. Its text is empty if the cgroup has no mark, does not exist or may not
/// be read.
Result<Mark> read_mark(const Record& cgroup);

struct Marked {
  std::string path;  // below the mount point, as in a Record
  Mark mark;
};
/// All cgroups, in every hierarchy, whose marks begin with `beginning`. Cgroups that the caller may
/// not read are skipped.
Result<std::vector<Marked>> find_marks(const linux::Procfs& procfs, const Layout& layout,
                                       std::string_view beginning);

}  // namespace ocirun::cgroups
