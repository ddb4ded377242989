#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/images/inventory.hpp"

namespace ocirun::runtime {

/// Checks what CRIU would do to the host before the restored processes can be compared. CRIU joins
/// the points and roots of mounts to paths of its own, from which ".." leads to any file of the
/// host. It puts what the images have of some file systems into the host's: nodes into /dev,
/// registrations into binfmt_misc, policies into AppArmor. It mounts any type from any source. So
/// the type of a new file system is one that sharing_of() knows, or `config` mounts the same type
/// from the same source with the same options. Errors: a sentence that names the mount; an image is
/// missing or damaged.
Result<void> check_host_images(Fd images, const ImageInventory& inventory,
                               const bundle::Config& config);

}  // namespace ocirun::runtime
