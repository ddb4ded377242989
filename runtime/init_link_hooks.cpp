// What the parent does in the runtime's namespaces once a container's environment is there: network
// devices and hooks.

#include <fcntl.h>

#include <memory>

#include "hooks/phase.hpp"
#include "linux/net_device_program.hpp"
#include "linux/procfs.hpp"
#include "linux/syscalls.hpp"
#include "runtime/init_link.hpp"
#include "runtime/signals.hpp"

namespace ocirun::runtime {
Result<void> InitLink::run_hooks() {
  TRY(move_net_devices());
  bundle::StateDocument state = plan_.state;
  state.status = "created";  // step 2 is over: what the conformance suite reads
  state.pid = pid();
  const hooks::Surroundings surroundings{
      .state = bundle::hook_state(state),
      .directory = context_.request.bundle,
      .default_env = {},
      .warn = [this](std::string_view text) { context_.log.warn(text); },
      .interrupt = Signals::descriptor(),
      .check_interrupt = Signals::check};
  TRY(record_init());
  hooks_have_begun_ = true;
  context_.directory.unlock();  // a hook may ask for the container's state
  for (const hooks::Kind kind : {hooks::Kind::kPrestart, hooks::Kind::kCreateRuntime})
    TRY(hooks::run_phase(plan_.config.hooks, kind, hooks::failure_rule(kind), surroundings));
  TRY(context_.directory.lock(kLockPatience));
  if (!context_.directory.exists()) return refuse("the container was deleted while its hooks ran");
  return {};
}

Result<void> InitLink::move_net_devices() {
  if (plan_.config.net_devices.empty()) return {};
  TRY_ASSIGN(UniqueFd target,
             linux::sys::openat(context_.procfs.fd(), fmt::format("{}/ns/net", pid()).c_str(),
                                O_RDONLY | O_CLOEXEC));
  const auto shared = std::make_shared<UniqueFd>(std::move(target));
  for (const linux::NetDevice& device : plan_.config.net_devices) {
    TRY_ASSIGN(const std::string name, within(linux::request_device_move(device, *shared),
                                              "/linux/netDevices/" + device.host_name));
    // Not left to the kernel: a virtual device dies with its namespace.
    context_.undo.add([&log = context_.log, name, host_name = device.host_name, shared] {
      const auto returned = linux::request_device_return(name, host_name, *shared);
      if (!returned) log.warn(returned.error().message());
    });
  }
  return {};
}

}  // namespace ocirun::runtime
