#include "runtime/parent/init_link.hpp"

#include <fcntl.h>

#include <cerrno>

#include "bundle/documents/hook_runs.hpp"
#include "hooks/run_hook.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"
#include "linux/mounts/root_namespace.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "linux/process/rlimits.hpp"
#include "linux/seccomp/filter_bytes.hpp"
#include "linux/seccomp/learn.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/foreground/learner.hpp"
#include "runtime/init/init.hpp"
#include "runtime/parent/agent.hpp"
#include "runtime/parent/exhausted_limits.hpp"
#include "runtime/parent/net_devices.hpp"
#include "runtime/protocol/hook_times.hpp"
#include "runtime/protocol/root_rules.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

using linux::NamespaceKind;

namespace {

// Makes the root namespace for init. Empty if the container does not fit, or after an error: init
// then gets a copy of the host's mount namespace. Empty also if ocirun runs in a user namespace:
// init could neither mount a procfs in the root namespace nor go back to the host's.
UniqueFd try_root_namespace(const InitPlan& plan) {
  if (!plan.pivot || !fits_root_namespace(plan.config)) return {};
  auto made = linux::make_root_namespace(plan.config.root_path);
  return made && is_host_root() ? *std::move(made) : UniqueFd();
}

}  // namespace

Result<void> InitLink::spawn() {
  OCIRUN_TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
  const bool staged = needs_stage(plan_.config);
  plan_.root_namespace = try_root_namespace(plan_);
  // join_cgroups() makes the cgroup namespace after init has joined the v1 cgroups.
  std::uint64_t flags =
      staged ? 0 : plan_.config.namespaces.new_flags() & ~linux::clone_flag(NamespaceKind::kCgroup);
  if (plan_.root_namespace) flags &= ~linux::clone_flag(NamespaceKind::kMount);
  auto child = linux::clone_process(flags, plan_.cgroup.unified_directory, linux::Parentage::kMine);
  if (!child) {
    Error error = std::move(child).error();
    std::string reason = flags == 0 ? "" : linux::why_namespaces_are_refused(error.number(), flags);
    // cgroups(7): clone3 into a cgroup also needs write access to cgroup.procs of the common
    // ancestor of this cgroup and the cgroup of ocirun.
    if (plan_.cgroup.unified_directory && error.number() == EACCES)
      reason =
          "the container's cgroup may not be entered from here: without privileges ocirun itself "
          "must run inside of the part of the unified hierarchy that was delegated";
    if (!reason.empty()) error.within(std::move(reason));
    return std::unexpected(error.within("make the container's namespaces"));
  }
  if (child->pid == 0) {
    ends.first.close();
    if (staged) stage_main(plan_, std::move(ends.second));
    init_main(plan_, std::move(ends.second));
  }
  plan_.root_namespace.reset();
  child_ = std::move(*child);
  socket_ = std::move(ends.first);
  context_.undo.add([this] { kill(); });
  return staged ? Result<void>{} : greet();
}

Result<void> InitLink::greet() {
  OCIRUN_TRY(context_.cgroup.adopt(pid()));
  OCIRUN_TRY(write_own_oom_score());
  // If this process dies and init has no cgroup, only the intent names init.
  return context_.intent.record.cgroup_manager == CgroupManager::kDisabled ? record_init()
                                                                           : Result<void>{};
}

Result<void> InitLink::write_own_oom_score() {
  if (!plan_.config.process || !plan_.config.process->oom_score_adj) return {};
  const int score = *plan_.config.process->oom_score_adj;
  OCIRUN_TRY_ASSIGN(const linux::Procfs* procfs, procfs_.get());
  return within(write_oom_score(*procfs, score),
                "/process/oomScoreAdj: set {} (lowering it wants CAP_SYS_RESOURCE)", score);
}

// Writes init's identity to the intent, where `state` finds it while hooks run.
Result<void> InitLink::record_init() {
  OCIRUN_TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(pid()));
  context_.intent.record.init_pid = pid();
  context_.intent.record.init_start_time = stat.start_time;
  return context_.directory.write_intent(context_.intent);
}

Result<void> InitLink::apply_resources() const {
  return plan_.config.resources ? context_.cgroup.apply(*plan_.config.resources) : Result<void>{};
}

Result<void> InitLink::compile_filter() {
  if (!plan_.config.seccomp) return {};
  std::vector<std::string> warnings;
  OCIRUN_TRY_ASSIGN(filter_, linux::compile_seccomp(*plan_.config.seccomp, warnings));
  for (const std::string& warning : warnings) context_.log.debug(warning);
  // `exec` gets the profile itself: nobody would answer a second listener.
  OCIRUN_TRY(context_.directory.write_filter(linux::filter_bytes(*filter_)));
  if (context_.request.learner == nullptr) return {};
  filter_ = linux::learning_filter(*std::move(filter_));
  if (filter_->program.size() > BPF_MAXINSNS)
    return refuse(
        "--seccomp-learn: /linux/seccomp: with the instructions for learning, the filter has {}: "
        "the kernel takes at most {}",
        filter_->program.size(), BPF_MAXINSNS);
  return {};
}

Result<void> InitLink::hear_nothing(std::chrono::seconds so_far) {
  if (agent_has_listener_) return no_answer_of_agent(*plan_.config.seccomp, so_far);
  const bool has_hooks = !plan_.config.hooks.of(hooks::Kind::kCreateContainer).empty();
  if (should_warn_of_silence(has_hooks, so_far))
    context_.log.warn(
        fmt::format("still waiting after {} s, while {}", so_far.count(), activity()));
  return {};
}

std::string InitLink::activity() const {
  std::string step = plan_.step.activity();
  return step.empty() ? ChildLink::activity() : step;
}

std::string InitLink::cause_of_death() const { return tell_oom(context_.cgroup, 0); }

Result<void> InitLink::answer(const linux::Packet& packet) {
  switch (static_cast<Message>(packet.tag)) {
    case Message::kMapIds:
      return map_ids();
    case Message::kRootMount:
      return record_root_mount(packet);
    case Message::kOpenMount:
      return open_mount(packet);
    case Message::kRunHooks:
      return run_hooks();
    case Message::kHookLasts:
      context_.log.warn(packet.payload);
      return {};
    case Message::kHooksRan:
      record_hooks_run(
          context_.directory,
          parse_hook_times(packet.payload, plan_.config.hooks, hooks::Kind::kCreateContainer),
          context_.log);
      return {};
    case Message::kTerminal:
      return keep_terminal(packet);
    case Message::kWantFilter:
      return say(Message::kFilter, linux::filter_bytes(*filter_));
    case Message::kSetLimits:
      return set_limits();
    case Message::kListener:
      return forward_listener(packet);
    default:
      return fail(EPROTO, "unexpected {}", message_name(static_cast<Message>(packet.tag)));
  }
}

Result<void> InitLink::map_ids() {
  const bool makes_user_namespace = plan_.config.namespaces.creates(NamespaceKind::kUser);
  if (!makes_user_namespace && plan_.config.time_offsets.empty()) return {};
  OCIRUN_TRY_ASSIGN(const linux::Procfs* procfs, procfs_.get());
  if (makes_user_namespace)
    OCIRUN_TRY(linux::write_id_maps(procfs->fd(), pid(), plan_.config.id_map));
  for (const linux::TimeOffset& offset : plan_.config.time_offsets) {
    const std::string_view clock =
        offset.clock == linux::TimeOffset::Clock::kMonotonic ? "monotonic" : "boottime";
    const std::string line = fmt::format("{} {} {}", clock, offset.seconds, offset.nanoseconds);
    OCIRUN_TRY(within(procfs->write(fmt::format("{}/timens_offsets", pid()), line),
                      "/linux/timeOffsets/{}", clock));
  }
  return {};
}

Result<void> InitLink::keep_terminal(const linux::Packet& packet) {
  OCIRUN_TRY_ASSIGN(terminal_, receive_terminal(packet, context_.console));
  return {};
}

Result<void> InitLink::set_limits() {
  return linux::set_rlimits(pid(), plan_.config.process->rlimits);
}

Result<void> InitLink::forward_listener(const linux::Packet& packet) {
  if (context_.request.learner != nullptr) {
    OCIRUN_TRY_ASSIGN(const UniqueFd listener,
                      within(receive_listener(packet, child_),
                             "--seccomp-learn: init has ended under its filter: /linux/seccomp "
                             "must allow execve and "
                             "the calls before it"));
    return context_.request.learner->watch(listener);
  }
  bundle::StateDocument state = plan_.state;
  state.status = Status::kCreating;
  state.pid = pid();
  OCIRUN_TRY(send_listener(packet, child_, *plan_.config.seccomp, state));
  agent_has_listener_ = true;
  return {};
}

// The parent's work in the runtime's namespaces after init has made its mounts: network devices and
// hooks.

Result<void> InitLink::run_hooks() {
  OCIRUN_TRY(move_net_devices());
  bundle::StateDocument state = plan_.state;
  state.status = Status::kCreated;  // lifecycle step 2 is over; the conformance suite checks this
  state.pid = pid();
  hooks::Context hook_context = on_host(state, context_.request.bundle, context_.log);
  std::vector<hooks::HookRun> ran;
  hook_context.ran = &ran;
  OCIRUN_TRY(record_init());
  context_.hooks_have_begun = true;
  context_.directory.unlock();  // a hook may ask for the container's state
  for (const hooks::Kind kind : {hooks::Kind::kPrestart, hooks::Kind::kCreateRuntime})
    OCIRUN_TRY(hooks::run_phase(plan_.config.hooks, kind, hooks::failure_rule(kind), hook_context));
  OCIRUN_TRY(context_.directory.lock(kLockPatience));
  if (!context_.directory.exists()) return refuse("the container was deleted while its hooks ran");
  record_hooks_run(context_.directory, ran, context_.log);
  return {};
}

Result<void> InitLink::move_net_devices() {
  if (plan_.config.net_devices.empty()) return {};
  OCIRUN_TRY_ASSIGN(const linux::Procfs* procfs, procfs_.get());
  OCIRUN_TRY_ASSIGN(context_.network_namespace,
                    linux::open_namespace(procfs->fd(), pid(), linux::NamespaceKind::kNetwork));
  return runtime::move_net_devices(context_.directory, plan_.config.net_devices,
                                   context_.network_namespace, context_.log);
}

hooks::Context on_host(const bundle::StateDocument& state, const HostPath& bundle, const Log& log) {
  return {.state = bundle::hook_state(state),
          .directory = bundle,
          .warn = [&log](std::string_view text) { log.warn(text); },
          .interrupt = Signals::descriptor(),
          .check_interrupt = Signals::check};
}

void record_hooks_run(const StateDirectory& directory, std::span<const hooks::HookRun> ran,
                      const Log& log) {
  const auto recorded = bundle::append_hook_runs(directory.descriptor(), ran);
  if (!recorded) log.warn("the times of the hooks are not recorded: " + recorded.error().message());
}

}  // namespace ocirun::runtime
