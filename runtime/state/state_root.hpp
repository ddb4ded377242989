#pragma once

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

enum class MissingRoot { kIsCreated, kIsAnError, kIsEmpty };

/// kAllUsers: root's and sticky, as /tmp is. Everybody's containers are directories of their own
/// there, and a name may be taken by anybody.
enum class Sharing { kOneUser, kAllUsers };

/// The directory of all containers.
struct StateRoot {
  UniqueFd directory;  // empty: it does not exist
  Sharing sharing = Sharing::kOneUser;
};

/// Opens the state root, which must belong to the effective user (root may work on another's, as
/// Slurm does) and be writable by nobody else, or be shared by all users. Its directory is empty
/// where it is missing and that kIsEmpty. Errors name the path and what to do.
Result<StateRoot> open_state_root(const HostPath& root, MissingRoot missing);

}  // namespace ocirun::runtime
