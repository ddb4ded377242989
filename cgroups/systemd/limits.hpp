#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cgroups/plan/plan.hpp"
#include "cgroups/systemd/property.hpp"

namespace ocirun::cgroups {

/// v1 and v2 limits have different unit properties; systemd applies only those of the version in
/// use.
enum class CgroupVersion { kV1, kV2 };

/// The planned writes as properties of the scope. At `daemon-reload` systemd writes its
/// properties to the files again, so they must agree with what ocirun wrote. Files that systemd
/// does not manage have no property. `period` is the cgroup's cpu.cfs_period_us, for a v1 quota
/// that comes without a period. A pids limit of 0 becomes TasksMax=1, because systemd has no
/// TasksMax=0.
std::vector<UnitProperty> limit_properties(std::span<const Write> writes, CgroupVersion version,
                                           std::uint64_t period = 100'000);

/// The device rules of v1 as properties. Without them, systemd would undo the rules of ocirun at
/// daemon-reload. Errors: rules that systemd cannot express: denials after "allow all", and a minor
/// number without a major number.
Result<std::vector<UnitProperty>> device_properties(std::span<const DeviceRule> rules);

/// The properties that every scope has: its slice, delegation, accounting, no default dependencies.
std::vector<UnitProperty> scope_properties(const std::string& slice, const std::string& id,
                                           CgroupVersion version);

/// The properties that every slice has.
std::vector<UnitProperty> slice_properties(const std::string& description, CgroupVersion version);

}  // namespace ocirun::cgroups
