#pragma once

#include <span>

#include "criu/dump/images.hpp"
#include "criu/dump/places.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Reads the files of the images. Errors: an image is missing or damaged.
Result<ImageFiles> read_image_files(Fd images);

/// Checks what CRIU would do with the files of the images before the restored processes can be
/// compared, or where nobody can see the files afterwards. Errors name the image: a path has ".."
/// or is not absolute; CRIU would make a deleted file again, or remove a link to one, where
/// check_file() of `places` forbids that; it would make a device or a symlink; a watch of inotify
/// or fanotify has no path (with the number of a file alone, CRIU would open any file of the file
/// system); a descriptor is on its way through a socket.
Result<void> check_image_files(const ImageFiles& files, const ImagePlaces& places);

/// Checks to whom open files send signals: to none but `processes` and their threads. For a
/// container without a pid namespace of its own. CRIU sets the receiver as root, so that forged
/// images could have any process of the host killed. Error: a sentence that names the image.
Result<void> check_signal_receivers(const ImageFiles& files,
                                    std::span<const ImageProcess> processes);

}  // namespace ocirun::runtime
