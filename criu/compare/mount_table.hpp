#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "criu/compare/host_mounts.hpp"
#include "linux/base/error.hpp"
#include "linux/files/mountinfo.hpp"

namespace ocirun::runtime {

/// A place at which the document mounts something.
struct MountPlace {
  enum class Kind : std::uint8_t {
    kFilesystem,  // a new file system of `type`
    kDevice,      // one on a block device, of which any directory may be mounted
    kCgroup,      // a hierarchy of cgroups, or a tmpfs with the hierarchies below
    kCompared,    // a bind, masked file or node: the caller has compared the mount `visible`
    kTree,        // kCompared for a recursive bind: other mounts may lie below
    kReadOnly,    // a bind of the path onto itself
  };
  Kind kind = Kind::kFilesystem;
  std::string point;          // without symlinks, below the root
  std::string type{};         // kFilesystem, kDevice
  std::string cgroup{};       // kCgroup: the container's, which a hierarchy shows; "": any
  std::uint64_t visible = 0;  // kCompared, kTree: the id of the mount that a path leads to
};

/// Whether the mount is a hierarchy of cgroups that shows no cgroup above `cgroup`. With "" for
/// `cgroup`, every hierarchy of cgroups will do.
bool shows_cgroups_below(const linux::MountEntry& mount, const std::string& cgroup);

/// Compares `mountinfo`, the text of /proc/PID/mountinfo, with the mounts of a document whose
/// container cannot mount. Each mount but that on "/" is on the point of a place and of its kind,
/// or a hierarchy of cgroups below kCgroup, or lies below kTree. Returns the points below kTree:
/// the caller has to compare what lies there with the source. Errors: a sentence that names the
/// mount.
Result<std::vector<std::string>> compare_mount_table(std::span<const MountPlace> places,
                                                     std::string_view mountinfo);

/// What a mount table is compared with.
struct ShownExpectation {
  const bundle::Config& config;
  const HostMounts& host;     // allows what config.json gives to the container
  const std::string& cgroup;  // the path of the container's cgroup, "" for none
};

/// Compares each mount of `mountinfo`, the table of a mount namespace. Allowed are: the parts of
/// the host's file systems that config.json gives to the container; new file systems that a
/// container can mount itself, or of a type that config.json mounts; cgroups at or below `cgroup`,
/// or all cgroups if the container could mount the whole hierarchy. Mount events of the host reach
/// a mount only where config.json has rslave or rshared. Errors: a sentence that names the mount.
Result<void> compare_shown(const ShownExpectation& wanted, std::string_view mountinfo);

}  // namespace ocirun::runtime
