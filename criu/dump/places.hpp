#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "bundle/config/config.hpp"
#include "criu/dump/images.hpp"
#include "linux/base/error.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::runtime {

// CRIU makes and removes some files while its root directory is the host's. For such a file, CRIU
// appends a path of the images to the directory on which it has mounted the container's filesystem.
// A ".." in the path, or a symlink of the container, leads CRIU to other files of the host. A
// symlink to /proc/1/root leads even to mounts that are not in CRIU's mount namespace.

/// Whether a part of the path is "..".
bool leads_up(std::string_view path);

/// Where the files of the images lie, before CRIU mounts anything.
class ImagePlaces {
 public:
  /// `mounts`: those of all mount namespaces of the images. Both arguments must outlive this.
  ImagePlaces(std::span<const ImageMount> mounts, const bundle::Config& config)
      : mounts_(mounts), config_(config) {}

  /// Checks a path at which CRIU makes or removes a file in the mount with the number `mount_id`.
  /// In the root file system and in the source of a bind, no existing part of the path may be a
  /// symlink. In another mount, whose content only CRIU knows, the file must lie at the top.
  /// Errors: a sentence that names the path.
  Result<void> check_file(const std::string& path, std::int64_t mount_id) const;

  /// Checks the mount point. Errors: a symlink is a part of it.
  Result<void> check_point(const ImageMount& mount) const;

 private:
  /// A directory that CRIU mounts on `point`.
  struct Base {
    std::string point;
    linux::SafeDir directory;
  };
  Result<std::optional<Base>> base_of(const ImageMount& mount) const;
  const ImageMount* find(std::int64_t mount_id) const;

  std::span<const ImageMount> mounts_;
  const bundle::Config& config_;
};

}  // namespace ocirun::runtime
