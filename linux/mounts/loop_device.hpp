#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Attaches a free loop device to `file`, which is open for reading and writing, and returns the
/// device. The kernel detaches it when the last user is gone: this descriptor, or a mount of the
/// device (Linux 5.8). Errors: the machine has no loop devices.
Result<UniqueFd> attach_loop_device(Fd file);

}  // namespace ocirun::linux
