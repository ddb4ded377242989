#pragma once

#include "linux/base/error.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/state/container_id.hpp"

namespace ocirun::runtime {

enum class Force { kNo, kYes };

/// runtime.md#delete (OP-5, LC-11 … LC-13). With Force::kYes the status does not matter, nor
/// whether `create` was killed or state.json is damaged, and an id that does not exist is no error.
/// Errors with Force::kNo: the status is not `stopped`.
Result<void> delete_container(const GlobalOptions& options, const ContainerId& id, Force force,
                              const Log& log);

}  // namespace ocirun::runtime
