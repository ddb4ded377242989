#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/detached_mount.hpp"

namespace ocirun::runtime {

/// Whether mount events of the host reach the container's mount of a tree (slave, shared).
enum class MountEvents { kPrivate, kFromHost };

/// The host's mounts, and what of them a container may show.
class HostMounts {
 public:
  /// Reads the mount table of the caller, which is in the host's mount namespace.
  static Result<HostMounts> read(const linux::Procfs& procfs);
  /// `procfs` as above. The container may show what lies at and below `file`, in that file system;
  /// with kTree what the host mounts below it too.
  Result<void> allow(const linux::Procfs& procfs, Fd file, linux::Recursion recursion,
                     MountEvents events);
  /// The container may show the file system on a block device with this number.
  void allow_device(dev_t number);

  /// Whether the host has mounted the file system of `mount`.
  bool has(const linux::MountEntry& mount) const;
  /// Whether `mount` shows no more than allow() has named.
  bool allows(const linux::MountEntry& mount) const;
  /// Whether mount events of the host reach `mount`, and nobody has allowed that.
  bool hears_too_much(const linux::MountEntry& mount) const;

 private:
  struct Tree {
    std::string device, root;
    MountEvents events;
  };
  explicit HostMounts(std::string table) : table_(std::move(table)) {}
  bool is_in_a_tree(const linux::MountEntry& mount, MountEvents wanted) const;

  std::string table_;
  std::vector<Tree> trees_;
};

}  // namespace ocirun::runtime
