#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/hierarchies/node.hpp"
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {

/// Makes the writes of a plan, in order. A write that the kernel refuses with EINVAL is tried again
/// after the other writes of the same controller: limits that depend on each other (memory and
/// swap, quota and period) have no order that is right both for raising and for lowering. `dropped`
/// receives the JSON pointers of limits that this kernel no longer has (IfMissing::kDrop),
/// `handed_down` the controllers that apply_writes() had to enable (enable_controllers()). An error
/// names the JSON pointer, the file, the value and, where the cgroup's files tell it, the reason.
Result<void> apply_writes(std::span<const Node> nodes, std::span<const Write> writes,
                          HandedDown& handed_down, std::vector<std::string>* dropped = nullptr);

/// Like apply_writes(), but all or nothing, for files that already hold values: when a write fails,
/// the earlier ones are undone. Returns the writes that restore every old value.
Result<Writes> replace_values(std::span<const Node> nodes, std::span<const Write> writes,
                              HandedDown& handed_down, std::vector<std::string>* dropped = nullptr);

/// Makes the writes that replace_values() returned, the last one first. A write that the kernel
/// refuses is tried again after the others, and skipped if it fails three times.
void restore_values(std::span<const Node> nodes, std::span<const Write> old_values);

/// The write that restores the present content of the file of `write`. Nothing when the file cannot
/// be read: it does not exist, or has no content to restore (memory.reclaim).
std::optional<Write> old_value(const Directory& directory, const Write& write);

/// The value that undoes a write of `value` to `file`: after both writes, the content of `file` is
/// `text` again, as it is now. For files with one line for each device, like io.max, this is the
/// line of the device that `value` names, or the value that clears that line.
std::string restoring_value(std::string_view file, std::string_view text, std::string_view value);

/// v1: a cgroup can have no more real-time runtime than its ancestors, and a new cgroup has none.
/// Adds `runtime`, the runtime that a container asks for (in microseconds of its cpu.rt_period_us),
/// to the parents that belong to ocirun: /ocirun and below. Does nothing for a cgroup elsewhere:
/// whoever named its path in cgroupsPath has to give runtime to its parents.
void make_room_for_realtime(const Node& node, std::string_view runtime);

}  // namespace ocirun::cgroups
