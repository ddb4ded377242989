#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// One line of /proc/PID/uid_map: `size` ids from `container_id` on are `host_id` and following.
struct IdMapping {
  std::uint32_t container_id = 0;
  std::uint32_t host_id = 0;
  std::uint32_t size = 0;
  friend bool operator==(const IdMapping&, const IdMapping&) = default;
};

/// The two maps of a user namespace or of an id-mapped mount (L-9, M-8).
struct IdMap {
  std::vector<IdMapping> uids;
  std::vector<IdMapping> gids;
  bool empty() const { return uids.empty() && gids.empty(); }
  friend bool operator==(const IdMap&, const IdMap&) = default;

  /// The host's id of a container's id; nothing when it is not mapped.
  std::optional<std::uint32_t> host_uid(Uid uid) const;
  std::optional<std::uint32_t> host_gid(Gid gid) const;
};

/// The kernel takes at most 340 lines a map (user_namespaces(7)).
inline constexpr std::size_t kMaxIdMappings = 340;

/// Errors: a size of 0, ids beyond 2^32-2, overlaps on either side, more than kMaxIdMappings lines.
Result<void> check_id_mappings(const std::vector<IdMapping>& mappings);

/// Reads a uid_map or gid_map file: `path` below the directory `at`, such as "self/uid_map" below a
/// procfs. Errors: the file cannot be opened or read.
Result<std::vector<IdMapping>> read_id_map(Fd at, const std::string& path);
/// The text of such a file.
std::vector<IdMapping> parse_id_map(std::string_view text);

/// Writes the maps of the process `pid` (a number in the namespace of `procfs`, a directory fd of a
/// verified procfs). Uses newuidmap(1)/newgidmap(1) where the kernel wants them: an unprivileged
/// writer with more than its own id, each map by itself. Writes "deny" to setgroups first when
/// unprivileged without newgidmap. Errors name the map's field and what is missing: the program, a
/// line in /etc/subuid, a sysctl.
Result<void> write_id_maps(Fd procfs, int pid, const IdMap& map);

/// A user namespace fd that has `map`, for mount_setattr(MOUNT_ATTR_IDMAP). A short-lived child
/// holds it.
Result<UniqueFd> make_user_namespace(Fd procfs, const IdMap& map);

}  // namespace ocirun::linux
