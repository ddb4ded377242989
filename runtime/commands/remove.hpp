#pragma once

#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/state/container_id.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

enum class Force { kNo, kYes };

/// runtime.md#delete (OP-5, LC-11 … LC-13). With Force::kNo, only a stopped container is deleted.
/// With Force::kYes, a container of any status is deleted, also one whose `create` was killed or
/// whose state.json is damaged; an id that does not exist is then no error.
Result<void> delete_container(const GlobalOptions& options, const ContainerId& id, Force force,
                              const Log& log);

/// For `delete --force` of a container whose state.json and intent.json are damaged or missing: a
/// record with the cgroup whose mark names the state directory. Warns about the facts that no mark
/// holds. Errors: the directory is not a container's state directory; no cgroup has the mark, and
/// processes are in the cgroup that `create` would have used.
Result<bundle::ContainerRecord> record_without_files(const GlobalOptions& options,
                                                     const StateDirectory& directory,
                                                     const ContainerId& id, const Log& log);

}  // namespace ocirun::runtime
