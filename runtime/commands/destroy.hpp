#pragma once

#include <memory>
#include <string>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// Lifecycle steps 12 and 13 (LC-12, LC-13). Kills init and every process of the cgroup, removes
/// the cgroup, the resctrl group, the mounts in a mount namespace that was not the container's own,
/// and the state directory. Then runs the poststop hooks, whose failures are warnings. `record`
/// comes from state.json or, after a crash of `create`, from intent.json. Errors name the things
/// that could not be removed. The state directory then stays, so that `delete` can be tried again.
Result<void> destroy_container(const StateDirectory& directory,
                               const bundle::ContainerRecord& record, const Log& log);

/// Runs the poststop hooks of `config`.
void run_poststop(const bundle::Config& config, const bundle::ContainerRecord& record,
                  const Log& log);

enum class HostRootfs { kDetached, kIsNotOurs };
/// For a container without a mount namespace of its own (L-4): detaches the mount of the root file
/// system, and all mounts below it, in the caller's mount namespace. kIsNotOurs: the mount at that
/// path was made by somebody else, such as an engine, and stays.
Result<HostRootfs> detach_host_rootfs(const bundle::ContainerRecord& record);

}  // namespace ocirun::runtime
