#pragma once

#include <span>
#include <string_view>

#include "cgroups/systemd/program/bus.hpp"
#include "cgroups/systemd/property.hpp"

namespace ocirun::cgroups {

/// Appends an array a(sv) of those `properties` that a systemd of `version` knows.
Result<void> append_properties(const Message& message, std::span<const UnitProperty> properties,
                               unsigned version);

}  // namespace ocirun::cgroups
