#pragma once

#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {

/// Makes the root of the mount namespace of the stopped process `pid` read-only. CRIU does not
/// restore that attribute, and needs a root that can be written to until all mounts are restored.
/// Errors: EBUSY: a process has a file below the root open for writing.
Result<void> make_root_read_only(const linux::Procfs& procfs, int pid);

}  // namespace ocirun::runtime
