#include "criu/dump/check.hpp"

#include "criu/dump/cgroups.hpp"
#include "criu/dump/files.hpp"
#include "criu/dump/mounts.hpp"
#include "criu/dump/places.hpp"

namespace ocirun::runtime {
namespace {

Result<void> check_all_paths(const Images& images, const bundle::Config& config) {
  const std::vector<ImageMount> mounts = all_mounts(images);
  const ImagePlaces places(mounts, config);
  for (const ImageMount& mount : mounts) OCIRUN_TRY(places.check_point(mount));
  OCIRUN_TRY(check_image_files(images.files, places));
  return config.namespaces.creates(linux::NamespaceKind::kPid)
             ? Result<void>{}
             : check_signal_receivers(images.files, images.processes);
}

Result<void> check_policies(const Images& images) {
  if (!images.has_apparmor_policies) return {};
  return refuse("apparmor.img: criu would load these AppArmor policies into the host's kernel");
}

}  // namespace

Result<void> check_images(const Images& images, const bundle::Config& config, SavedCgroups cgroups,
                          Obstacles& obstacles) {
  const auto note = [&](Result<void> checked) -> Result<void> {
    if (checked || checked.error().number() != 0) return checked;
    obstacles.push_back(std::move(checked)
                            .error()
                            .within("criu could harm the host with these images (--trust-images "
                                    "gives them to criu all the same)")
                            .message());
    return {};
  };
  OCIRUN_TRY(note(check_image_mounts(images, config)));
  OCIRUN_TRY(note(check_all_paths(images, config)));
  OCIRUN_TRY(note(check_policies(images)));
  return cgroups == SavedCgroups::kMade ? note(check_image_cgroups(images.cgroups, config.id_map))
                                        : Result<void>{};
}

}  // namespace ocirun::runtime
