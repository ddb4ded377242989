#pragma once

#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/namespaces/id_map.hpp"

namespace ocirun::runtime {

/// Checks cgroup.img before CRIU reads it: CRIU makes the cgroups of the image, and changes their
/// owners and modes, before any process can be compared. All of them must lie below one cgroup of
/// each hierarchy, which CRIU replaces by the container's, and belong to root or to `ids`. Error:
/// the first difference.
Result<void> check_cgroup_image(std::string_view image, const linux::IdMap& ids);

/// The same for the image in the directory `images`, if there is one.
Result<void> check_cgroup_images(Fd images, const linux::IdMap& ids);

}  // namespace ocirun::runtime
