#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount.hpp"

namespace ocirun::runtime {

// The mounts that a container has from the host, for CRIU. The words are options of ocirun-criu
// (linux/checkpoint/criu_program.hpp).

/// A mount whose files are the host's. `name` identifies it in the images.
struct OutsideMount {
  enum class Kind : std::uint8_t { kBind, kMask, kDevice, kCgroup };
  Kind kind = Kind::kBind;
  std::string name;                       // the destination in config.json, or the masked path
  std::string source;                     // on the host
  const linux::Mount* mount = nullptr;    // kBind, kCgroup: the entry of config.json
  std::optional<linux::Device> device{};  // kDevice
};
/// The binds of config.json, the masked files, and the devices of a container with a user
/// namespace, in which nodes are binds of the host's nodes. In a container without a cgroup
/// namespace, a mount of type cgroup shows `cgroups`, the container's own, by binds. Points into
/// `config`.
std::vector<OutsideMount> outside_mounts(const bundle::Config& config,
                                         std::span<const linux::CgroupHierarchy> cgroups);

/// The words for a dump. `root`: the root of the container's init, in which symlinks of
/// destinations are resolved. Destinations that do not exist are left out.
Result<std::vector<std::string>> words_of_mounts_for_dump(std::span<const OutsideMount> mounts,
                                                          const linux::SafeDir& root);
/// The words for a restore. `prepared`: the directory of prepared_sources.hpp, or "" where CRIU
/// binds the sources themselves.
std::vector<std::string> words_of_mounts_for_restore(std::span<const OutsideMount> mounts,
                                                     std::string_view prepared);

/// The path of the host to which the symlinks of `path`, the source of a bind, lead. CRIU does not
/// follow one at the end of a source. A path that cannot be opened is unchanged: CRIU's error names
/// it.
std::string without_links(const std::string& path);

/// Makes the mount points of the document that lie on the root filesystem itself and are missing,
/// below the root, as `create` does.
Result<void> make_mount_points(const bundle::Config& config);

}  // namespace ocirun::runtime
