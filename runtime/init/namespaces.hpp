#pragma once

#include <functional>
#include <string_view>

#include "hooks/hook.hpp"
#include "hooks/run_hook.hpp"
#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "runtime/protocol/plans.hpp"

namespace ocirun::runtime {

// The steps of init and of the stage for namespaces, cgroups, names, sysctls and hooks.

/// Sets PR_SET_PDEATHSIG. Error: the parent died before that took effect.
Result<void> die_with_parent(const linux::MessageSocket& parent);

/// For an init without a stage, whose clone3 made all new namespaces: has its ids mapped, becomes
/// root of its user namespace and joins the namespaces that exist already.
Result<void> enter_namespaces(const InitPlan& plan, const linux::MessageSocket& parent);

/// Asks the parent to write the id maps and time offsets, then becomes root of the user namespace.
Result<void> map_ids(const InitPlan& plan, const linux::MessageSocket& parent);
/// Drops the supplementary groups and becomes user 0 and group 0. Where a map has no 0, the caller
/// becomes the user or the group of the container's process instead.
Result<void> become_namespace_root(const bundle::Config& config);

/// Joins every cgroup v1 hierarchy by writing "0" to `tasks`, then makes the cgroup namespace if
/// config.json asks for a new one. The clone itself has joined the unified hierarchy.
Result<void> join_cgroups(InitPlan& plan);
/// Joins the cgroup v1 hierarchies alone, for a process that `exec` adds.
Result<void> join_tasks(const cgroups::Cgroup::JoinHandles& cgroup);

Result<void> start_session();
Result<void> set_names(const bundle::Config& config);  // T-4, T-5

/// Runs the createContainer or startContainer hooks, as children of init (H-10), with the umask of
/// the caller of ocirun. This function fills in the state of `hook_context`. `tell_times` gets the
/// text of hook_times() when all hooks of a kind that has hooks have succeeded.
Result<void> run_container_hooks(const InitPlan& plan, hooks::Kind kind,
                                 hooks::Context hook_context,
                                 const std::function<void(std::string_view)>& tell_times);
/// Asks the parent to run the prestart and createRuntime hooks, which live in the runtime's
/// namespaces.
Result<void> ask_for_hooks(const InitPlan& plan, const linux::MessageSocket& parent);

/// Sends HookLasts. An error is ignored: if the parent is gone, the next message says so.
void report_lasting_hook(const linux::MessageSocket& parent, std::string_view text);

/// Sends HooksRan. An error is ignored, as by report_lasting_hook().
void report_hooks(const linux::MessageSocket& parent, std::string_view times);

/// Tells the parent the pid of the process that the calling stage has cloned. If the parent cannot
/// be told, kills that process.
void report_forked(const linux::MessageSocket& parent, int pid);

/// Sends Ready, waits for Committed, clears PDEATHSIG and sends Detached.
Result<void> report_ready(const linux::MessageSocket& parent);

}  // namespace ocirun::runtime
