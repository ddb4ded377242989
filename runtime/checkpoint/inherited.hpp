#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// To be called in CRIU's process. Restored processes are children of CRIU, and inherit what CRIU
/// does not restore: the session keyring, the CPU affinity, the I/O priority, the NUMA policy, an
/// OOM score of 0, and, from versions of CRIU that do not know it, no_new_privs. So CRIU's process
/// gets what `create` would give, instead of what the caller of `restore` has. Errors name the
/// field of config.json.
Result<void> take_what_is_inherited(const bundle::Config& config, const linux::Procfs& procfs,
                                    bool has_new_keyring);

}  // namespace ocirun::runtime
