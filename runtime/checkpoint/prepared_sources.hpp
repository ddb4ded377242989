#pragma once

#include <span>
#include <string>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"
#include "runtime/checkpoint/outside_mounts.hpp"

namespace ocirun::runtime {

// CRIU binds the sources of a container's outside mounts when it is root of the container's user
// namespace already. It may not reach a source then, and root of the container could clear the
// protective flags of such a bind later. So ocirun binds the sources before, with the attributes of
// config.json, in CRIU's mount namespace. The kernel locks the attributes when that mount namespace
// is copied for the user namespace.

/// Whether the sources have to be prepared: the container has a user namespace or an id-mapped
/// mount.
bool wants_prepared_sources(const bundle::Config& config);

/// The directory of the host that a tmpfs with the sources covers in CRIU's mount namespace, and
/// that everybody may search. It holds none of `paths`, which are absolute: CRIU needs these.
/// Errors: each directory that could serve is missing or holds such a path.
Result<std::string> place_for_sources(std::span<const std::string> paths);

/// To be called in CRIU's own mount namespace. Covers `place` and makes the source of mounts[i]
/// there under the name i. Errors name the mount.
Result<void> prepare_sources(const std::string& place, std::span<const OutsideMount> mounts,
                             const bundle::Config& config, const linux::Procfs& procfs);

}  // namespace ocirun::runtime
