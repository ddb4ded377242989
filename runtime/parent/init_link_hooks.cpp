// The parent's work in the runtime's namespaces after init has made its mounts: network devices and
// hooks.

#include <fcntl.h>

#include "hooks/run_hook.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/parent/host_hooks.hpp"
#include "runtime/parent/init_link.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/state/record.hpp"

namespace ocirun::runtime {
Result<void> InitLink::run_hooks() {
  TRY(move_net_devices());
  bundle::StateDocument state = plan_.state;
  state.status = Status::kCreated;  // lifecycle step 2 is over; the conformance suite checks this
  state.pid = pid();
  const hooks::Surroundings surroundings = on_host(state, context_.request.bundle, context_.log);
  TRY(record_init());
  context_.hooks_have_begun = true;
  context_.directory.unlock();  // a hook may ask for the container's state
  for (const hooks::Kind kind : {hooks::Kind::kPrestart, hooks::Kind::kCreateRuntime})
    TRY(hooks::run_phase(plan_.config.hooks, kind, hooks::failure_rule(kind), surroundings));
  TRY(context_.directory.lock(kLockPatience));
  if (!context_.directory.exists()) return refuse("the container was deleted while its hooks ran");
  return {};
}

Result<void> InitLink::move_net_devices() {
  if (plan_.config.net_devices.empty()) return {};
  TRY_ASSIGN(context_.network_namespace,
             linux::open_namespace(context_.procfs.fd(), pid(), linux::NamespaceKind::kNetwork));
  return runtime::move_net_devices(context_.directory, plan_.config.net_devices,
                                   context_.network_namespace, context_.log);
}

}  // namespace ocirun::runtime
