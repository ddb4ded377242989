#pragma once

#include <vector>

#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// The pids of `init` and of all processes below it, a parent before its children. Complete if all
/// of them are stopped. Errors: there are more than a million; a process cannot be read.
Result<std::vector<int>> processes_of(const linux::Procfs& procfs, int init);

/// Kills all processes below this one, which are what is left of an unfinished restore.
void kill_all_below_this_process(const linux::Procfs& procfs);

/// Kills `init` and all processes below it, which must be stopped, so that none of them can escape
/// and no pid can be another's. Kills those that it finds if not all can be found.
void kill_processes_of(const linux::Procfs& procfs, int init);

}  // namespace ocirun::runtime
