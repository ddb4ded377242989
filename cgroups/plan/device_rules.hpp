#pragma once

#include <span>
#include <vector>

#include "cgroups/plan/plan.hpp"
#include "cgroups/plan/resources.hpp"

namespace ocirun::cgroups {

/// What every container may use (L-27), whatever its config says: the default devices, its
/// terminals and, because a node alone gives no access, mknod of anything.
std::span<const DeviceRule> default_device_rules();

/// `rules` after a denial of everything, and the default ones after them: the complete list of
/// which the last rule that matches decides. "all" rules that name a number or a part of
/// "rwm" are split into one for character and one for block devices.
std::vector<DeviceRule> complete_rules(std::span<const DeviceRule> rules);

/// The complete list as v1's devices.allow and devices.deny take it: one of them all, then the
/// exceptions. v1 keeps exceptions in one direction only and compares them literally: a list that
/// takes a part of a wider exception away again cannot be said, and is an error instead of a hole.
Result<std::vector<Write>> plan_device_rules_v1(std::span<const DeviceRule> rules);

/// What turns the list of `old` rules into that of `now` on v1. While the default stays, what is
/// new is added before what is old goes, so nothing that both allow is ever refused.
struct DeviceChange {
  Writes writes;
  bool passes_through_nothing = false;  // the default changes: the list is empty for a moment
};
Result<DeviceChange> plan_device_change_v1(std::span<const DeviceRule> old,
                                           std::span<const DeviceRule> now);

}  // namespace ocirun::cgroups
