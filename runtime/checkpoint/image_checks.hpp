#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/checkpoint/fit.hpp"
#include "runtime/checkpoint/inventory.hpp"

namespace ocirun::runtime {

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
