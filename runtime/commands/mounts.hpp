#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

/// The mounts that add_mounts() has made in the container, in their order. Errors: the record is
/// damaged.
Result<std::vector<bundle::LiveMount>> added_mounts(const Container& container);

/// Mounts into a living container: all `mounts`, or none. The source of a bind is opened on the
/// host; the destination is opened inside the container's root, and made if it is missing. In a
/// container with a user namespace, the kernel locks what protects the host (locked binds). The
/// mounts are recorded: `inspect` shows them, and remove_mounts() takes them away. Takes the
/// container's lock. Each child is given up after ten seconds. Errors: the container has no
/// process, no mount namespace of its own, another user namespace than config.json asks for, or
/// another mount namespace than when its first mount was added; a mount that only `create` can
/// make; those of make_live_tree() and attach_trees(), with the mount's place in the list.
Result<void> add_mounts(Container& container, const std::vector<bundle::LiveMount>& mounts);

/// Unmounts what add_mounts() has made at these destinations, wherever the container has moved it
/// since. Of several mounts at one place, the last one goes first. Takes the container's lock.
/// `warn` is told of a mount that the container has unmounted itself. Errors: add_mounts() has made
/// no such mount; a mount is still there, because another one covers it: it and those that were
/// added before it remain.
Result<void> remove_mounts(Container& container, const std::vector<RootfsPath>& destinations,
                           const std::function<void(const std::string&)>& warn);

}  // namespace ocirun::runtime
