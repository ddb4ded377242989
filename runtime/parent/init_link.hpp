#pragma once

#include <optional>
#include <span>
#include <string>

#include "bundle/documents/state.hpp"
#include "cgroups/container/cgroup.hpp"
#include "hooks/run_hook.hpp"
#include "linux/base/paths.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/binds.hpp"
#include "linux/seccomp/filter.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/rollback.hpp"
#include "runtime/parent/child_link.hpp"
#include "runtime/parent/create_request.hpp"
#include "runtime/protocol/plans.hpp"
#include "runtime/state/store.hpp"

namespace ocirun::runtime {

/// The things that the parent needs while it makes a container's init and answers it.
struct BirthContext {
  const CreateRequest& request;
  const Log& log;
  const StateDirectory& directory;
  cgroups::Cgroup& cgroup;
  bundle::IntentRecord& intent;
  Fd console;                   // the console socket, or -1
  UniqueFd& network_namespace;  // the container's; empty until devices are moved into it
  bool& hooks_have_begun;
  Rollback& undo;
};

/// The parent's link to init: clones init, and answers it until it is ready.
class InitLink final : public ChildLink {
 public:
  InitLink(InitPlan& plan, const BirthContext& context) : plan_(plan), context_(context) {}

  /// Clones init, or the stage that clones it, into the unified cgroup if plan.cgroup has one.
  Result<void> spawn();
  /// Applies the limits, while init makes its mounts.
  Result<void> apply_resources() const;
  Result<void> compile_filter();

  UniqueFd take_terminal() { return std::move(terminal_); }

 private:
  Result<void> greet() override;
  Result<void> answer(const linux::Packet& packet) override;
  Result<void> hear_nothing(std::chrono::seconds so_far) override;
  std::string cause_of_death() const override;
  std::string activity() const override;

  Result<void> write_own_oom_score();
  Result<void> record_init();
  Result<void> map_ids();
  Result<void> record_root_mount(const linux::Packet& packet);
  Result<void> open_mount(const linux::Packet& packet);
  Result<UniqueFd> find_source_inside(const linux::Procfs& procfs, const linux::Mount& mount) const;
  Result<UniqueFd> clone_source(const linux::Procfs& procfs, const linux::LockedBind& wanted) const;
  Result<UniqueFd> open_tree(const linux::Mount& mount);
  Result<UniqueFd> make_filesystem(const linux::Mount& mount);
  Result<UniqueFd> open_id_map(const linux::Procfs& procfs, const linux::Mount& mount) const;
  Result<UniqueFd> open_user_namespace(const linux::Procfs& procfs) const;
  Result<void> run_hooks();
  Result<void> move_net_devices();
  Result<void> keep_terminal(const linux::Packet& packet);
  Result<void> set_limits();
  Result<void> forward_listener(const linux::Packet& packet);

  InitPlan& plan_;  // init is a clone of this process: it changes only its own copy of the plan
  BirthContext context_;
  linux::ProcfsOnDemand procfs_;     // for writes to procfs, and for init's files in it
  bool agent_has_listener_ = false;  // if true, init may wait for the seccomp agent
  std::optional<linux::SeccompFilter> filter_;
  UniqueFd terminal_;
};

/// The context of hooks in the runtime's namespaces (prestart, createRuntime, poststart,
/// poststop): `state` on stdin, the bundle as working directory, the runtime's environment (H-4). A
/// signal to the runtime ends the hook. Warnings go to `log`, which has to outlive the result.
hooks::Context on_host(const bundle::StateDocument& state, const HostPath& bundle, const Log& log);

/// Records hooks that have run, for `inspect`. A failure is a warning: no container needs the
/// record.
void record_hooks_run(const StateDirectory& directory, std::span<const hooks::HookRun> ran,
                      const Log& log);

}  // namespace ocirun::runtime
