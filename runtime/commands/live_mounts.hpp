#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/mounts/options.hpp"
#include "runtime/base/rollback.hpp"
#include "runtime/commands/container_entry.hpp"

namespace ocirun::runtime {

// Mounts of a living container. Nothing that the container can change is looked up twice: a mount
// is complete before it is attached, attached by descriptor, and later found by its number.

/// Makes the mount, which is not attached yet, with all its attributes: a bind on the host, a tmpfs
/// in the container. A short-lived child does so, which is given up after ten seconds. `mount`: a
/// bind or a tmpfs. Errors: those of the source; a file system that does not answer.
Result<UniqueFd> make_live_tree(const ContainerEntry& entry, const linux::Mount& mount);

/// A mount to be attached.
struct LiveTree {
  const linux::Mount& mount;
  UniqueFd tree;
  std::uint64_t number = 0;  // in mountinfo
};

/// Called in a child of the caller. Enters the container, opens all mount points, makes those that
/// are missing, and attaches the trees. `undo` unmounts them. Errors name the place in the list:
/// the mount would uncover a masked or read-only path, or would appear on the host.
Result<void> attach_trees(const ContainerEntry& entry, std::vector<LiveTree>& trees,
                          Rollback& undo);

/// A mount to be taken away.
struct OldMount {
  std::uint64_t id = 0;      // linux::sys::mount_id()
  std::uint64_t number = 0;  // in mountinfo
};

/// Called in a child of the caller. Enters the container and unmounts, the last one first, until a
/// mount cannot be unmounted. Returns a line for each mount, in that order: "" if it was unmounted,
/// "missing" if the container had no such mount any more, or why it is still there.
Result<std::string> take_mounts(const ContainerEntry& entry, const std::vector<OldMount>& old);
inline constexpr std::string_view kWasMissing = "missing";

}  // namespace ocirun::runtime
