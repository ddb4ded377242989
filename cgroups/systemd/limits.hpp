#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cgroups/plan/plan.hpp"
#include "cgroups/systemd/property.hpp"

namespace ocirun::cgroups {

/// Which of its two sets of properties systemd heeds.
enum class CgroupVersion { kV1, kV2 };

/// The planned writes as properties of the scope, so that systemd, which writes its own
/// values again at `daemon-reload`, writes the same. Files that it does not manage have none.
/// `period` holds the cgroup's cpu.cfs_period_us for a v1 quota that comes without one.
/// TasksMax is 1 for a limit of 0, which systemd does not know.
std::vector<UnitProperty> limit_properties(std::span<const Write> writes, CgroupVersion version,
                                           std::uint64_t period = 100'000);

/// v1: the device rules, which systemd would undo at daemon-reload. Errors: denials after "allow
/// all", and a major number left open beside a minor one: systemd cannot say these.
Result<std::vector<UnitProperty>> device_properties(std::span<const DeviceRule> rules);

/// What every scope has: its slice, delegation, accounting, no dependencies of its own.
std::vector<UnitProperty> scope_properties(const std::string& slice, const std::string& id,
                                           CgroupVersion version);

}  // namespace ocirun::cgroups
