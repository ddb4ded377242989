#pragma once

#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "criu/dump/images.hpp"
#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// Reasons for which a restore would fail, each a sentence.
using Obstacles = std::vector<std::string>;

/// Looks for what CRIU would do to the host with these images, which are not trusted, before the
/// restored processes can be compared. Adds a sentence to `obstacles` for each reason not to give
/// the images to CRIU. Only a failure of the system, such as EMFILE, is an error.
Result<void> check_images(const Images& images, const bundle::Config& config, SavedCgroups cgroups,
                          Obstacles& obstacles);

}  // namespace ocirun::runtime
