#pragma once

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

enum class MissingRoot { kIsCreated, kIsAnError, kIsEmpty };

/// kAllUsers: the state root belongs to root, and is sticky and writable by everybody, as /tmp is.
/// Each container's directory belongs to the user who created it. Any user can take any id.
enum class Sharing { kOneUser, kAllUsers };

/// The directory of all containers.
struct StateRoot {
  UniqueFd directory;  // empty if the state root does not exist
  Sharing sharing = Sharing::kOneUser;
};

/// Opens the state root. It must belong to the effective user and be writable by nobody else, or be
/// shared by all users. Root may open another user's state root, as Slurm does. With kIsEmpty, a
/// state root that does not exist gives an empty descriptor. Errors name the path and the remedy.
Result<StateRoot> open_state_root(const HostPath& root, MissingRoot missing);

}  // namespace ocirun::runtime
