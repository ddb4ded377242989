#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Checks the mounts of the images before CRIU reads them: CRIU joins their points and roots to
/// paths of its own, from which ".." leads to any file of the host. Errors: a path with "..", as
/// only a forger writes; an image is damaged.
Result<void> check_mount_images(Fd images);

}  // namespace ocirun::runtime
