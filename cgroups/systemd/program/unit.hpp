#pragma once

#include <span>
#include <string>

#include "cgroups/systemd/program/bus.hpp"
#include "cgroups/systemd/property.hpp"

namespace ocirun::cgroups {

/// "252 /user.slice/…": systemd's version, and the cgroup of its root slice.
Result<std::string> describe_manager(const Bus& bus);
/// Starts a transient scope with `pid` in it and waits until it runs. Returns the scope's cgroup.
/// Removes a unit of that name that has failed, has ended or is ending. Error: EEXIST if a unit of
/// that name is active.
Result<std::string> start_scope(const Bus& bus, const std::string& unit,
                                std::span<const UnitProperty> properties, int pid);
/// Like start_scope(), for a transient slice, which has no process. Returns the slice's cgroup.
Result<std::string> start_slice(const Bus& bus, const std::string& unit,
                                std::span<const UnitProperty> properties);
Result<void> set_unit_properties(const Bus& bus, const std::string& unit,
                                 std::span<const UnitProperty> properties);
Result<void> attach_process(const Bus& bus, const std::string& unit, int pid);
/// Stops the unit and resets its failure. Then waits a bounded time until systemd has forgotten the
/// unit; a unit that stays, or that does not exist, is no error. Error: systemd's stop job fails.
Result<void> remove_unit(const Bus& bus, const std::string& unit);

}  // namespace ocirun::cgroups
