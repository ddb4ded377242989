#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount.hpp"

namespace ocirun::runtime {

/// A mount whose files are the host's. `name` identifies it in the images.
struct OutsideMount {
  enum class Kind : std::uint8_t { kBind, kMask, kDevice, kCgroup };
  Kind kind = Kind::kBind;
  std::string name;                       // the path of the mount, before symlinks are resolved
  std::string source;                     // a path on the host
  const linux::Mount* mount = nullptr;    // kBind, kCgroup: the one in config.json
  std::optional<linux::Device> device{};  // kDevice
};
/// The binds of config.json, the masked paths, and the devices of a container with a user
/// namespace, in which nodes are binds of the host's nodes. In a container without a cgroup
/// namespace of its own, a mount of type cgroup is made of binds of `cgroups`, the container's own.
/// Points into `config`.
std::vector<OutsideMount> outside_mounts(const bundle::Config& config,
                                         std::span<const linux::CgroupHierarchy> cgroups);

/// Whether mount events of the host reach the container's mount of a tree (slave, shared).
enum class MountEvents { kPrivate, kFromHost };

/// The host's mounts, and what of them a container may show.
class HostMounts {
 public:
  /// Reads the mount table of the caller, which is in the host's mount namespace.
  static Result<HostMounts> read(const linux::Procfs& procfs);
  /// From now on, the container may show what lies at and below `file` in the file system of
  /// `file`; with kTree, also what the host has mounted below `file`. `events`: whether mount
  /// events of the host may reach the mounts.
  Result<void> allow(const linux::Procfs& procfs, Fd file, linux::Recursion recursion,
                     MountEvents events);
  /// From now on, the container may show the file system on the block device `number`.
  void allow_device(dev_t number);

  /// Whether the host has mounted the file system of `mount`.
  bool has(const linux::MountEntry& mount) const;
  /// Whether the host's mount with the id `mount` is id-mapped.
  bool is_id_mapped(std::uint64_t mount) const;
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

/// The files of the host with which the mounts of a restored container are compared. They are
/// opened outside of the container's mount namespace.
struct HostFiles {
  UniqueFd rootfs;
  std::vector<UniqueFd> sources;  // by the index of the mount; empty for one that is no bind
  HostMounts mounts;              // allows the root filesystem, the sources and devices
};
/// To be called in the host's mount namespace. Error: a source is missing.
Result<HostFiles> open_host_files(const bundle::Config& config, const linux::Procfs& procfs);

}  // namespace ocirun::runtime
