#pragma once

#include <memory>
#include <string>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// Lifecycle steps 12 and 13 (LC-12, LC-13): undoes what `create` made – cgroup with all that still
/// runs in it, resctrl groups, mounts in a mount namespace that was not the container's own, state
/// directory – then runs the poststop hooks, whose failures are warnings. `record` is what the
/// state file or, after a crash, the intent tells; init, if it lives, is killed. Errors: what could
/// not be removed; the state directory then stays for another try.
Result<void> destroy_container(const StateDirectory& directory,
                               const bundle::ContainerRecord& record, const Log& log);

/// Runs poststop hooks with the config at hand.
void run_poststop(const bundle::Config& config, const bundle::ContainerRecord& record,
                  const Log& log);

enum class HostRootfs { kDetached, kIsNotOurs };
/// Detaches the rootfs with all that was mounted below it in the caller's own mount namespace (L-4:
/// no mount namespace). Another's mount that is seen there, an engine's own, stays.
Result<HostRootfs> detach_host_rootfs(const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
