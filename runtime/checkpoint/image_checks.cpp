#include "runtime/checkpoint/image_checks.hpp"

#include <cerrno>

#include "runtime/checkpoint/cgroup_image.hpp"
#include "runtime/checkpoint/host_images.hpp"
#include "runtime/checkpoint/huge_files.hpp"

namespace ocirun::runtime {

void check_images(const UntrustedImages& images, Obstacles& obstacles) {
  const auto add_error_of = [&](Result<void> checked) {
    if (checked) return;
    Error error = std::move(checked).error();
    const bool is_damage = error.number() == ENOENT || error.number() == EBADMSG;
    if (error.number() == 0)
      error.within("the images would change the host (--trust-images restores them all the same)");
    else if (is_damage)
      error.within(
          "the images are incomplete or damaged (copy them again, with the directories of all "
          "pre-dumps)");
    obstacles.push_back(error.message());
  };
  add_error_of(check_host_images(images.directory, images.inventory, images.config, images.pages));
  if (images.has_cgroups) add_error_of(check_cgroup_images(images.directory, images.config.id_map));
  add_error_of(check_no_huge_files(images.config, images.procfs));
}

}  // namespace ocirun::runtime
