#pragma once

#include <cstdint>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/id_map.hpp"

namespace ocirun::runtime {

// A container with a user namespace needs another view of its images. CRIU's first task reads one
// of them as root of the host without capabilities over the host's files, before the maps of the
// new user namespace are written. Later all tasks read images as root of the user namespace. The
// images belong to root of the host, with mode 0600.
//
// So the view is a directory that belongs to root of the host, with the group of root of the user
// namespace and modes that let both read. It holds copies of the small images. An image with pages
// of memory, or of 1 MiB and more, is an id-mapped bind of the file: only root of the user
// namespace reads it.

/// kWrite: CRIU removes pages from the images (--auto-dedup).
enum class ImageAccess : std::uint8_t { kRead, kWrite };

struct ImagesToShow {
  const std::string& place;  // the directory of prepared_sources.hpp, with its tmpfs
  Fd images;                 // the directory of images that the caller gave
  const linux::IdMap& id_map;
  const linux::Procfs& procfs;
  ImageAccess access = ImageAccess::kRead;
};

/// Makes the view of the images in CRIU's own mount namespace, and opens it. Links to images of
/// earlier pre-dumps become directories of the view. Where the file system of the images has no
/// id-mapped mounts, all images are copied. `images` is not changed. Errors: the copies do not fit
/// into half of the memory; those of for_each_directory().
Result<UniqueFd> show_images(const ImagesToShow& wanted);

}  // namespace ocirun::runtime
