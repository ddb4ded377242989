#pragma once

#include "cgroups/plan/resources.hpp"

namespace ocirun::cgroups {

/// `now` after `change`: what `change` does not give stays. Lists are joined by what an entry is
/// about (device, page size, interface, file), but for the device rules, whose order has a meaning:
/// a list that is not empty takes the place of the old one.
Resources merge(Resources now, const Resources& change);

}  // namespace ocirun::cgroups
