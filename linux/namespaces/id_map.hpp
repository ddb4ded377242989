#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/id_mappings.hpp"

namespace ocirun::linux {

/// The two maps of a user namespace or of an id-mapped mount (L-9, M-8).
struct IdMap {
  std::vector<IdMapping> uids;
  std::vector<IdMapping> gids;
  bool empty() const { return uids.empty() && gids.empty(); }
  friend bool operator==(const IdMap&, const IdMap&) = default;

  /// The host's id for an id of the container; nothing when it is not mapped.
  std::optional<std::uint32_t> host_uid(Uid uid) const;
  std::optional<std::uint32_t> host_gid(Gid gid) const;
};

/// The kernel accepts at most 340 lines in a map (user_namespaces(7)).
inline constexpr std::size_t kMaxIdMappings = 340;

/// Errors: a size of 0, ids beyond 2^32-2, overlaps on either side, more than kMaxIdMappings lines,
/// more than 4095 bytes of text.
Result<void> check_id_mappings(const std::vector<IdMapping>& mappings);

/// Writes the maps of the process `pid`. `procfs` is a directory descriptor of a verified procfs,
/// and `pid` is a number in its pid namespace. A map is written by newuidmap(1) or newgidmap(1)
/// where the kernel requires it: for an unprivileged writer who maps more than the own id. An
/// unprivileged writer who maps only the own gid writes "deny" to setgroups first. Errors name the
/// field of the map and the missing thing: the program, a line in /etc/subuid, a sysctl.
Result<void> write_id_maps(Fd procfs, int pid, const IdMap& map);

/// A descriptor of a new user namespace with `map`, which belongs to the calling user. A
/// short-lived child creates the namespace. Errors: clone_process() fails; those of
/// write_id_maps(), without the map's field.
Result<UniqueFd> make_user_namespace(Fd procfs, const IdMap& map);

}  // namespace ocirun::linux
