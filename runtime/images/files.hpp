#pragma once

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/images/places.hpp"

namespace ocirun::runtime {

/// Checks what CRIU would do with the files of the images before the restored processes can be
/// compared, or where nobody can see the files afterwards. Paths are plain. CRIU makes a deleted
/// file again, or removes a link to one, only where check_file() of `places` allows that, and makes
/// no device and no symlink. A watch of inotify or fanotify has a path: with the number of a file
/// alone, CRIU would open any file of the file system. No descriptor is on its way through a
/// socket. Errors: a sentence that names the image; an image is missing or damaged.
Result<void> check_file_images(Fd images, const ImagePlaces& places);

}  // namespace ocirun::runtime
