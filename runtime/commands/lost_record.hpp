#pragma once

#include "bundle/documents/state.hpp"
#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/state/container_id.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// For `delete --force` of a container whose state.json and intent.json are damaged or gone: its
/// cgroup, found by its mark. A warning says what cannot be known. Errors: the directory is no
/// container's state; nothing proves whose cgroup it is, and somebody is where `create` would have
/// put it.
Result<bundle::ContainerRecord> record_without_files(const GlobalOptions& options,
                                                     const StateDirectory& directory,
                                                     const ContainerId& id, const Log& log);

}  // namespace ocirun::runtime
