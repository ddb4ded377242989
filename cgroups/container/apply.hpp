#pragma once

#include <span>
#include <string>
#include <vector>

#include "cgroups/hierarchies/node.hpp"
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {

/// Makes the writes of a plan, in order. A write that the kernel refuses with EINVAL is tried again
/// after the other writes of the same controller: limits that depend on each other (memory and
/// swap, quota and period) have no order that is right both for raising and for lowering. `dropped`
/// receives the JSON pointers of limits that this kernel no longer has (IfMissing::kDrop). An error
/// names the JSON pointer, the file, the value and, where the cgroup's files tell it, the reason.
Result<void> apply_writes(std::span<const Node> nodes, std::span<const Write> writes,
                          HandedDown& handed_down, std::vector<std::string>* dropped = nullptr);

/// Like apply_writes(), but all or nothing, for files that already hold values: when a write fails,
/// the earlier ones are undone. Returns the writes that restore every old value.
Result<Writes> replace_values(std::span<const Node> nodes, std::span<const Write> writes,
                              HandedDown& handed_down, std::vector<std::string>* dropped = nullptr);

/// Makes the writes that replace_values() returned, the last one first. Writes that the kernel
/// refuses are skipped.
void restore_values(std::span<const Node> nodes, std::span<const Write> old_values);

}  // namespace ocirun::cgroups
