#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

/// The error for a container that is not in the status `created` (OP-3).
std::unexpected<Error> refuse_start(Status status);

/// Runs the poststart hooks of a container whose program runs. Releases the lock of `directory`
/// while the hooks run. Errors: a hook failed, and the document's edition makes that an error; the
/// container was deleted meanwhile.
Result<void> run_poststart(const StateDirectory& directory, const bundle::ContainerRecord& record,
                           const Log& log);

/// runtime.md#start (OP-3, LC-6 … LC-9). The container must be locked and have the status
/// `created`. Returns when init has called execve and the poststart hooks have run. If a
/// startContainer or poststart hook fails, the container is destroyed (H-11, H-12); a poststart
/// hook of a 0.5 document only causes a warning (SD-15). Errors: those of init; those of a hook;
/// init has ended.
Result<void> start_container(const StateDirectory& directory, const bundle::ContainerRecord& record,
                             const Log& log);

}  // namespace ocirun::runtime
