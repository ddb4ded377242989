#pragma once

#include <string_view>
#include <vector>

#include "criu/dump/images.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/namespaces/id_map.hpp"

namespace ocirun::runtime {

/// Reads the cgroups of the images, if there are some. Errors: the image is damaged; more than 100
/// cgroups are nested.
Result<std::vector<ImageCgroups>> read_image_cgroups(Fd images);
/// Reads the cgroups of `image`, the bytes of one cgroup.img. Errors: as for read_image_cgroups().
Result<std::vector<ImageCgroups>> parse_image_cgroups(std::string_view image);

/// Checks the cgroups before CRIU reads them: CRIU makes them, and changes their owners and modes,
/// before any process can be compared. All of them must lie below one cgroup of each hierarchy,
/// which CRIU replaces by the container's, and belong to root or to `ids`. Error: the first
/// difference.
Result<void> check_image_cgroups(const std::vector<ImageCgroups>& cgroups, const linux::IdMap& ids);

}  // namespace ocirun::runtime
