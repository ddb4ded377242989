#pragma once

#include <span>
#include <vector>

#include "cgroups/plan/plan.hpp"
#include "cgroups/plan/resources.hpp"

namespace ocirun::cgroups {

/// The device rules of every container (L-27), whatever its config says: the default devices, its
/// terminals, and mknod of any device, because a node alone gives no access.
std::span<const DeviceRule> default_device_rules();

/// A denial of everything, then `rules`, then the default rules: the complete list, of which the
/// last rule that matches decides. Rules of type 'a' that name a number or only a part of
/// "rwm" are split into one rule for character and one for block devices.
std::vector<DeviceRule> complete_rules(std::span<const DeviceRule> rules);

/// The complete list as writes to v1's devices.allow and devices.deny: first "a" to one of them,
/// then the exceptions. v1 keeps exceptions in one direction only and compares them literally: a
/// list that takes a part of a wider exception away again cannot be expressed, and is an error
/// instead of a hole.
Result<std::vector<Write>> plan_device_rules_v1(std::span<const DeviceRule> rules);

/// The writes that change v1's list from the rules `old` to the rules `now`. While the default
/// (allow or deny all) stays, new exceptions are added before old ones are removed, so what both
/// lists allow is never refused.
struct DeviceChange {
  Writes writes;
  bool passes_through_nothing = false;  // the default changes: v1 clears all exceptions
};
Result<DeviceChange> plan_device_change_v1(std::span<const DeviceRule> old,
                                           std::span<const DeviceRule> now);

}  // namespace ocirun::cgroups
