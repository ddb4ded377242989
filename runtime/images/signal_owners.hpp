#pragma once

#include <span>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/images/inventory.hpp"

namespace ocirun::runtime {

/// Checks to whom the open files of the images send signals (F_SETOWN of fcntl(2)), for a container
/// that sees processes beside its own: to none but `processes` and their threads. CRIU sets the
/// receiver as root, so that forged images could have any process of the host killed. Error: a
/// sentence that names the image; the image is damaged.
Result<void> check_signal_owners(Fd images, std::span<const ImageProcess> processes);

}  // namespace ocirun::runtime
