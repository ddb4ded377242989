#pragma once

#include <span>
#include <string>

#include "cgroups/systemd/program/bus.hpp"
#include "cgroups/systemd/property.hpp"

namespace ocirun::cgroups {

/// "252 /user.slice/…": the version, and the cgroup of systemd's own root slice.
Result<std::string> describe_manager(const Bus& bus);
/// A transient scope with `pid` in it, running when this returns: its cgroup.
Result<std::string> start_scope(const Bus& bus, const std::string& unit,
                                std::span<const UnitProperty> properties, int pid);
Result<void> set_unit_properties(const Bus& bus, const std::string& unit,
                                 std::span<const UnitProperty> properties);
Result<void> attach_process(const Bus& bus, const std::string& unit, int pid);
/// Stopped, its failure forgotten, gone. One that does not exist is no error.
Result<void> remove_unit(const Bus& bus, const std::string& unit);

}  // namespace ocirun::cgroups
