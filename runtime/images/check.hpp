#pragma once

#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/images/inventory.hpp"

namespace ocirun::runtime {

/// Reasons for which a restore would fail, each a sentence.
using Obstacles = std::vector<std::string>;

/// Checkpoint images given without --trust-images, and the container that they are for.
struct UntrustedImages {
  Fd directory;
  const ImageInventory& inventory;
  const bundle::Config& config;
  bool has_cgroups = true;  // CRIU makes the cgroups of the images
};

/// Looks for what CRIU would do to the host on behalf of forged images before the restored
/// processes can be compared. Adds a sentence for each reason not to give the images to CRIU.
/// Damaged images are such a reason. Errors say nothing about the images, such as EMFILE.
Result<void> check_images(const UntrustedImages& images, Obstacles& obstacles);

}  // namespace ocirun::runtime
