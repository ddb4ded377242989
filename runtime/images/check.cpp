#include "runtime/images/check.hpp"

#include <cerrno>

#include "runtime/images/cgroups.hpp"
#include "runtime/images/mounts.hpp"

namespace ocirun::runtime {

Result<void> check_images(const UntrustedImages& images, Obstacles& obstacles) {
  const auto note = [&](Result<void> checked) -> Result<void> {
    if (checked) return {};
    Error error = std::move(checked).error();
    switch (error.number()) {
      case 0:
        error.within(
            "criu could harm the host with these images (--trust-images gives them to criu all the "
            "same)");
        break;
      case ENOENT:
      case EBADMSG:
        error.within(
            "the images are incomplete or damaged (copy them again, with the directories of all "
            "pre-dumps)");
        break;
      case EFBIG:
      case ELOOP:
        break;
      default:
        return std::unexpected(std::move(error));
    }
    obstacles.push_back(error.message());
    return {};
  };
  TRY(note(check_host_images(images.directory, images.inventory, images.config)));
  if (!images.has_cgroups) return {};
  return note(check_cgroup_images(images.directory, images.config.id_map));
}

}  // namespace ocirun::runtime
