#include "runtime/parent/host_hooks.hpp"

#include "runtime/base/signals.hpp"

namespace ocirun::runtime {

hooks::Surroundings on_host(const bundle::StateDocument& state, const HostPath& bundle,
                            const Log& log) {
  return {.state = bundle::hook_state(state),
          .directory = bundle,
          .warn = [&log](std::string_view text) { log.warn(text); },
          .interrupt = Signals::descriptor(),
          .check_interrupt = Signals::check};
}

}  // namespace ocirun::runtime
