#pragma once

#include "cgroups/plan/resources.hpp"

namespace ocirun::cgroups {

/// `now` updated by `change`: what `change` leaves out stays. Lists are merged entry by entry, by
/// device, page size, interface or file. The device rules are the exception, because their order
/// has a meaning: a list that is not empty replaces the old one.
Resources merge(Resources now, const Resources& change);

}  // namespace ocirun::cgroups
