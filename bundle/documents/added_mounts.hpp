#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::bundle {

/// A mount that `ocirun mounts add` has made in a container.
struct AddedMount {
  std::uint64_t id = 0;      // linux::sys::mount_id(): never used again since Linux 6.8
  std::uint64_t number = 0;  // in mountinfo: linux::mount_of()
  std::string document;      // the element of a list of the form of /mounts in config.json
};

/// The content of the file mounts.json of a state directory. It is written before anything is
/// mounted, so that it names each mount, whenever a process is killed.
struct AddedMounts {
  int format = 1;
  std::uint64_t mount_namespace = 0;  // the inode of the container's mount namespace
  std::vector<AddedMount> mounts;
};

inline constexpr char kAddedMounts[] = "mounts.json";

/// Errors: the record would have more than 1 MiB, which read_added_mounts() refuses.
Result<void> write_added_mounts(Fd directory, const AddedMounts& added);
/// No mounts if there is no such file. Errors: the file is damaged.
Result<AddedMounts> read_added_mounts(Fd directory);

}  // namespace ocirun::bundle
