#include "cgroups/container/late_join.hpp"

#include <fmt/format.h>
#include <cerrno>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/node.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::cgroups {
namespace {

// The kernel checks pids.max when a process is cloned, but not when a process is moved into the
// cgroup.
Result<void> check_pids_limits(std::string path) {
  for (; path.size() > 1; path = parent_of(path)) {
    TRY_ASSIGN(const Directory directory, Directory::open(path));
    const auto limit = number(directory.read_or_empty("pids.max"));  // empty: no file, or "max"
    if (!limit) continue;
    const auto processes = number(directory.read_or_empty("pids.current"));
    if (processes && *processes > *limit)
      return fail(EAGAIN, "join {}, whose pids.max is {}", path, *limit);
  }
  return {};
}

}  // namespace

Result<void> join_late(const Cgroup::JoinHandles& handles, int pid) {
  TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  std::vector<std::string> joined;
  for (const UniqueFd& tasks : handles.tasks) {
    TRY_ASSIGN(const std::string file, procfs.path_of(tasks));
    TRY(within(linux::sys::write_once(tasks, fmt::to_string(pid)), file));
    joined.push_back(parent_of(file));
  }
  if (handles.unified_directory) {
    TRY_ASSIGN(joined.emplace_back(), procfs.path_of(handles.unified_directory));
    TRY_ASSIGN(const Directory directory, Directory::open(joined.back()));
    TRY(directory.write("cgroup.procs", fmt::to_string(pid)));
  }
  for (const std::string& path : joined) TRY(check_pids_limits(path));
  return {};
}

}  // namespace ocirun::cgroups
