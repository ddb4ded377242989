#pragma once

#include "bundle/config/config.hpp"

namespace ocirun::runtime {

// What both sides have to decide alike from config.json about the root filesystem.

/// Whether init may build the root filesystem in a mount namespace that shows nothing of the host
/// (linux/mounts/root_namespace.hpp). It may if all of this holds. The container has a new mount
/// namespace, and no user namespace, in which the kernel would refuse a new procfs without another
/// one in sight. Init needs no stage, and no hook runs before the change of the root. Each mount is
/// a bind that is not id-mapped and whose tree does not send mount events to the host, or a
/// filesystem that needs no file of the host.
bool fits_root_namespace(const bundle::Config& config);

/// Whether config.json has a bind mount at /dev. Init then makes no device nodes there (L-27).
bool brings_own_dev(const bundle::Config& config);

}  // namespace ocirun::runtime
