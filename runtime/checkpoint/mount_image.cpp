#include "runtime/checkpoint/mount_image.hpp"

#include <algorithm>

#include "linux/base/text.hpp"
#include "runtime/checkpoint/inventory.hpp"

namespace ocirun::runtime {
namespace {

bool leads_up(std::string_view path) {
  const auto parts = linux::words(path, '/');
  return std::ranges::find(parts, "..") != parts.end();
}

}  // namespace

Result<void> check_mount_images(Fd images) {
  TRY_ASSIGN(const auto mounts, read_all_mounts(images));
  for (const ImageMount& mount : mounts)
    for (const std::string& path : {mount.point, mount.root})
      if (leads_up(path))
        return refuse(
            "the images have a mount with the path {:?}: criu would follow \"..\" to files of the "
            "host (--trust-images restores it all the same)",
            path);
  return {};
}

}  // namespace ocirun::runtime
