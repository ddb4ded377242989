#pragma once

#include "bundle/config/config.hpp"
#include "linux/base/error.hpp"
#include "runtime/state/container.hpp"
#include "runtime/state/status.hpp"

namespace ocirun::runtime {

/// The error for a container that is not in the status `created` (OP-3).
std::unexpected<Error> refuse_start(Status status);

/// runtime.md#start on a locked container in the status `created` (OP-3, LC-6 … LC-9): lets init go
/// on, returns when execve has happened and the poststart hooks have run. A failing startContainer
/// or poststart hook destroys the container (H-11, H-12); a 0.5 document's poststart only warns
/// (SD-15). Errors: init's own, a hook's, or that init died.
Result<void> start_container(const StateDirectory& directory, const bundle::ContainerRecord& record,
                             const Log& log);

}  // namespace ocirun::runtime
