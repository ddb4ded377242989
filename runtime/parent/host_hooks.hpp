#pragma once

#include "bundle/documents/state.hpp"
#include "hooks/run_hook.hpp"
#include "linux/base/paths.hpp"
#include "runtime/base/log.hpp"

namespace ocirun::runtime {

/// The surroundings of hooks in the runtime's namespaces (prestart, createRuntime, poststart,
/// poststop): `state` on stdin, the bundle as working directory, the runtime's environment (H-4). A
/// signal to the runtime ends the hook. Warnings go to `log`, which has to outlive the result.
hooks::Surroundings on_host(const bundle::StateDocument& state, const HostPath& bundle,
                            const Log& log);

}  // namespace ocirun::runtime
