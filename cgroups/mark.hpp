#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cgroups/cgroup.hpp"
#include "cgroups/layout.hpp"
#include "linux/error.hpp"

namespace ocirun::cgroups {

// A container's cgroup says itself whose it is: to a `delete` that finds somebody in a cgroup of
// that name, and to one that has no file left to tell it where the cgroup is. The mark lies in the
// first hierarchy of the record, as an extended attribute that the host's root alone can write, or
// an ordinary user's (Linux 5.7), which the container may write too: it proves nothing beyond the
// directory that it is on.

/// Errors: the kernel has no such attributes, or the text is too long for one (64 KiB).
Result<void> write_mark(const Record& cgroup, const std::string& text);
/// Empty: none, or no such cgroup.
std::string read_mark(const Record& cgroup);

struct Marked {
  std::string directory;  // on the host
  std::string text;
};
/// All cgroups below the mount point of the first hierarchy whose marks begin so.
Result<std::vector<Marked>> find_marks(const linux::Procfs& procfs, const Layout& layout,
                                       std::string_view beginning);

}  // namespace ocirun::cgroups
