#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cgroups/container/record.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// A limit of a container's cgroup beside what was asked for.
struct LimitFound {
  std::string file;     // "memory.max"
  std::string pointer;  // of the field that asks, "/linux/resources/memory/limit"; "": nobody asks
  std::string asked, found;
  bool is_same = false;
};

/// Reads the files that `resources` sets, and adds those limits that are set though nobody asked:
/// whose value is not the kernel's, or the parent's, for a new cgroup. Only reads. Errors: the
/// cgroup is gone; those of plan().
Result<std::vector<LimitFound>> compare_limits(const Record& record, const Resources& resources);

/// Whether the cgroup has exactly the device rules `rules` with the default rules. Nothing: nobody
/// can tell, because the host has no device controller, or the caller may not ask. Errors: the
/// cgroup is gone.
Result<std::optional<bool>> has_device_rules(const Record& record,
                                             std::span<const DeviceRule> rules);

}  // namespace ocirun::cgroups
