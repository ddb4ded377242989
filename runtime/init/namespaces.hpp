#pragma once

#include <functional>
#include <string_view>

#include "hooks/hook.hpp"
#include "hooks/run_hook.hpp"
#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "runtime/protocol/init_plan.hpp"

namespace ocirun::runtime {

// Steps of init (and of the stage) that concern namespaces, cgroups and what lives in them.

/// PR_SET_PDEATHSIG, and an error if the parent was gone before it took effect.
Result<void> die_with_parent(const linux::MessageSocket& parent);

/// The plain case, after clone3 made all new namespaces: ids mapped, root of the user namespace,
/// the rest joined.
Result<void> enter_namespaces(const InitPlan& plan, const linux::MessageSocket& parent);

/// Asks for the id maps and time offsets, then becomes the user namespace's root.
Result<void> map_ids(const InitPlan& plan, const linux::MessageSocket& parent);
/// setgroups to none, setresgid, setresuid to the namespace's root; to the process's own id where
/// its map has no 0, each by itself.
Result<void> become_namespace_root(const bundle::Config& config);

/// Joins every cgroup v1 hierarchy by writing "0" to `tasks`, then makes the cgroup namespace if it
/// is to be new. The unified hierarchy was joined by the clone itself.
Result<void> join_cgroups(InitPlan& plan);
/// The first half alone, for a process that `exec` adds.
Result<void> join_tasks(const cgroups::Cgroup::JoinHandles& cgroup);

Result<void> start_session();
Result<void> set_names(const bundle::Config& config);  // T-4, T-5
Result<void> write_early_sysctls(const bundle::Config& config);
Result<void> write_late_sysctls(const bundle::Config& config);

/// createContainer and startContainer hooks, run by init itself (H-10), with the caller's umask.
/// `surroundings` comes without the state.
Result<void> run_container_hooks(const InitPlan& plan, hooks::Kind kind,
                                 hooks::Surroundings surroundings);
/// prestart and createRuntime hooks, run by the parent in the runtime's namespaces.
Result<void> ask_for_hooks(const InitPlan& plan, const linux::MessageSocket& parent);

/// What the parent does not hear any more is no loss: the next message says that it is gone.
void report_lasting_hook(const linux::MessageSocket& parent, std::string_view text);

/// A stage tells the parent of the process that it has cloned for it. What the parent does not come
/// to know of is killed.
void report_forked(const linux::MessageSocket& parent, int pid);

/// Ready, Committed, PDEATHSIG cleared, Detached.
Result<void> report_ready(const linux::MessageSocket& parent);

}  // namespace ocirun::runtime
