#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cgroups/container/record.hpp"
#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

// A container's cgroup carries a mark that says which container it belongs to. `create` learns from
// it that an existing empty cgroup is left over. `delete` needs it when a cgroup of the recorded
// path exists, and when no state file says where the cgroup is. The mark is an extended attribute
// in the first hierarchy of the record. Written by root of the host, it is a trusted.* attribute,
// which only root of the host can write. Written by any other user, it is a user.* attribute (Linux
// 5.7), which the container can write as well.

/// Errors: the kernel has no such attributes, or `text` is too long for one (64 KiB).
Result<void> write_mark(const Record& cgroup, const std::string& text);
/// The text is empty if the cgroup has no mark, does not exist or may not be read.
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
