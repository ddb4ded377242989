#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/namespaces/id_map.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

/// A mount of the images. Texts are what the container or a forger wrote.
struct ImageMount {
  std::string point;     // begins with "/"
  std::string root;      // what of the file system is mounted
  std::string type;      // "" for a type that this version of ocirun does not know
  std::string external;  // the name of a mount of the host; "" for others
};

/// What ocirun reads of a directory of images.
struct ImageInventory {
  std::string machine;                 // as uname(2) calls it; "" if unknown
  std::vector<int> pids;               // in the container's pid namespace
  std::vector<ImageMount> mounts;      // of the first process
  std::optional<linux::IdMap> id_map;  // of its user namespace; nothing without one
  // The namespaces that were no namespaces of criu at the checkpoint.
  std::vector<linux::NamespaceKind> own_namespaces;
  bool has_cpu_features = false;  // an image that criu compares with the processor
};

/// Reads the images that say what a restore needs from the host. Errors: an image is missing or
/// damaged; the images are those of a pre-dump.
Result<ImageInventory> read_inventory(Fd images);

/// The mounts of all mount namespaces in the images. Errors: an image is damaged.
Result<std::vector<ImageMount>> read_all_mounts(Fd images);

}  // namespace ocirun::runtime
