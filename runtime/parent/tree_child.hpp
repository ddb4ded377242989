#pragma once

#include <functional>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/mount.hpp"
#include "runtime/base/signals.hpp"

namespace ocirun::runtime {

/// Runs `open` in a short-lived child. A filesystem that hangs blocks only the child, so this
/// process still reacts to signals. `open` may change the namespaces of its process: see
/// clone_locked_bind() and clone_bind_inside(). The child keeps only the descriptors in `keep`.
Result<UniqueFd> open_in_child(const std::function<Result<UniqueFd>()>& open, std::vector<Fd> keep,
                               const OnSilence& on_silence);

/// Clones the source for a container without a user namespace, where the kernel need not lock
/// mounts. The clone is isolated from the host's mount events, like the clones that init makes.
/// `id_map`: a user namespace, for an id-mapped mount.
Result<UniqueFd> open_unlocked(const linux::Procfs& procfs, const linux::Mount& mount, Fd id_map,
                               linux::Propagation rootfs_propagation);

}  // namespace ocirun::runtime
