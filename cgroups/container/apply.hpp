#pragma once

#include <span>
#include <string>
#include <vector>

#include "cgroups/hierarchies/node.hpp"
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {

/// Makes the writes of a plan, in order. One that is refused with EINVAL comes again after the
/// other writes of its controller: limits that depend on each other (memory and swap, quota and
/// period) have no order that is right for raising and for lowering. `dropped` gets the pointers of
/// limits that this kernel has given up (IfMissing::kDrop). Errors: pointer, reason where the
/// kernel's state tells one, file and value.
Result<void> apply_writes(std::span<const Node> nodes, std::span<const Write> writes,
                          HandedDown& handed_down, std::vector<std::string>* dropped = nullptr);

/// The same on files that hold something already, all or nothing: when a write fails, those before
/// it are taken back. Yields the writes that take all of it back.
Result<Writes> replace_values(std::span<const Node> nodes, std::span<const Write> writes,
                              HandedDown& handed_down, std::vector<std::string>* dropped = nullptr);

/// Makes writes that replace_values() gave, the last one first, as far as the kernel lets them.
void restore_values(std::span<const Node> nodes, std::span<const Write> old_values);

}  // namespace ocirun::cgroups
