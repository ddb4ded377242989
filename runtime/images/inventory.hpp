#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/namespaces/id_map.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// A mount of the images. Texts are what the container or a forger wrote.
struct ImageMount {
  std::uint32_t id = 0, parent = 0;  // of the mount, and of the mount that it is on
  std::uint32_t device = 0;
  std::uint32_t flags = 0, superblock_flags = 0;  // MS_*
  std::string point;                              // begins with "/"
  std::string root;                               // what of the file system is mounted
  std::string type;        // "" for one that CRIU cannot make; "type N" for one not known to ocirun
  std::string source{};    // of the file system
  std::string options{};   // of the file system, with commas
  std::string external{};  // the name of a mount of the host; "" for others
  bool is_deleted = false;          // what it shows had been deleted at the checkpoint
  bool is_containers_root = false;  // only in ImageInventory::mounts
};

/// A process of the images. The numbers are those of the container's pid namespace.
struct ImageProcess {
  int pid = 0;
  std::vector<int> threads{};  // of a process that lives; the first one has the number `pid`
};

/// What ocirun reads of a directory of images.
struct ImageInventory {
  std::string machine;  // as uname(2) calls it; "" if unknown
  std::vector<ImageProcess> processes;
  std::string mounts_image;            // the name of the image with the mounts of the first process
  std::vector<ImageMount> mounts;      // of the first process
  std::optional<linux::IdMap> id_map;  // of its user namespace; nothing without one
  // The namespaces that were no namespaces of criu at the checkpoint.
  std::vector<linux::NamespaceKind> own_namespaces;
  bool has_cpu_features = false;  // an image that criu compares with the processor
};

/// Reads the images that say what a restore needs from the host. Errors: an image is missing or
/// damaged; the images are those of a pre-dump.
Result<ImageInventory> read_inventory(Fd images);

/// The mounts of all mount namespaces in the images, but for those in the image `without`. Errors:
/// an image is damaged.
Result<std::vector<ImageMount>> read_all_mounts(Fd images, std::string_view without = {});

}  // namespace ocirun::runtime
