#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// Adds the cause to an EACCES or EOVERFLOW of init: the root filesystem belongs to a user whom
/// /linux/uidMappings does not map, so that the container may create nothing in it. Other errors
/// are returned unchanged.
Error explain_unmapped_root(Error error, const bundle::Config& config);

}  // namespace ocirun::runtime
