#pragma once

#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "runtime/base/log.hpp"

namespace ocirun::runtime {

/// Fills in the id map of a user namespace that is joined by path. Error: config.json has mappings
/// as well, as those of containerd and CRI-O do, and they differ (L-10).
Result<void> compare_joined_id_map(bundle::Config& config,
                                   const std::vector<linux::PinnedNamespace>& pinned);

/// Warns of each device that keeps the mode or owner of the host's node, because in a user
/// namespace the host's node is bound (L-24). To be called after compare_joined_id_map().
void warn_of_devices(const bundle::Config& config, const Log& log);

/// Adds the cause to an EACCES or EOVERFLOW of init: the root filesystem belongs to a user whom
/// /linux/uidMappings does not map, so that the container may create nothing in it. Other errors
/// are returned unchanged.
Error explain_unmapped_root(Error error, const bundle::Config& config);

}  // namespace ocirun::runtime
