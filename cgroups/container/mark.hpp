#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cgroups/container/record.hpp"
#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

// A container's cgroup says itself whose it is: to a `delete` that finds somebody in a cgroup of
// that name, and to one that has no file left to tell it where the cgroup is. The mark lies in the
// first hierarchy of the record, as an extended attribute that the host's root alone can write; or,
// of who is not, as one (Linux 5.7) that the container may write too.

/// Errors: the kernel has no such attributes, or the text is too long for one (64 KiB).
Result<void> write_mark(const Record& cgroup, const std::string& text);
/// Without text: it has none, or is not there.
Result<Mark> read_mark(const Record& cgroup);

struct Marked {
  std::string path;  // below the mount point, as in a Record
  Mark mark;
};
/// All cgroups whose marks begin so, in whatever hierarchy. What may not be looked into is passed
/// over.
Result<std::vector<Marked>> find_marks(const linux::Procfs& procfs, const Layout& layout,
                                       std::string_view beginning);

}  // namespace ocirun::cgroups
