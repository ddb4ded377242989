#include "runtime/commands/exec.hpp"

#include <cerrno>

#include "bundle/config/annotations.hpp"
#include "cgroups/container/join.hpp"
#include "linux/base/timeline.hpp"
#include "linux/mounts/terminal.hpp"
#include "linux/process/rlimits.hpp"
#include "linux/seccomp/filter_bytes.hpp"
#include "runtime/base/rollback.hpp"
#include "runtime/init/init.hpp"
#include "runtime/init/join.hpp"
#include "runtime/init/process.hpp"
#include "runtime/parent/agent.hpp"
#include "runtime/parent/child_link.hpp"
#include "runtime/parent/exhausted_limits.hpp"
#include "runtime/parent/init_cgroup.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kMoves = 5;
constexpr char kPaused[] = "cannot exec in a paused container (resume it, or give --ignore-paused)";

class ExecLink final : public ChildLink {
 public:
  ExecLink(ExecPlan& plan, const ExecRequest& request, const cgroups::Cgroup& cgroup, Fd console,
           bundle::StateDocument state, const Log& log)
      : plan_(plan),
        request_(request),
        cgroup_(cgroup),
        console_(console),
        state_(std::move(state)),
        log_(log) {}

  /// Makes the process, and answers its messages until the message Ready. If the container's
  /// topmost cgroup takes no process, the process joins the cgroup of `init`, the container's init.
  /// Errors name the limit that is exhausted.
  Result<void> give_birth(int init) {
    auto born = spawn(init);
    if (born) born = serve();
    if (!born) return std::unexpected(name_limit(std::move(born).error(), cgroup_, oom_kills_));
    return {};
  }
  /// Whether the stage (exec_stage_main()) has cloned the process of `exec`.
  bool has_cloned_process() const { return has_cloned_process_; }
  UniqueFd take_terminal() { return std::move(terminal_); }
  std::uint64_t oom_kills_before() const { return oom_kills_; }

 private:
  Result<void> spawn(int init) {
    OCIRUN_TRY_ASSIGN(auto ends, linux::MessageSocket::make_pair());
    auto child = clone();
    // Init may move to another cgroup between open_cgroup_of_init() and clone().
    UniqueFd topmost;
    for (int tries = 0; tries < kMoves && !child && may_follow(child.error()); ++tries) {
      if (!topmost) topmost = std::move(plan_.cgroup.unified_directory);
      OCIRUN_TRY_ASSIGN(plan_.cgroup.unified_directory, open_cgroup_of_init(topmost, init));
      child = clone();
    }
    OCIRUN_TRY_ASSIGN(child_, within(std::move(child), "join the container's cgroup"));
    if (child_.pid == 0) {
      ends.first.close();
      exec_stage_main(plan_, std::move(ends.second));
    }
    socket_ = std::move(ends.first);
    return {};
  }
  Result<void> greet() override {
    has_cloned_process_ = true;
    if (plan_.late_cgroup)
      OCIRUN_TRY(
          within(cgroups::join_late(*plan_.late_cgroup, pid()), "join the container's cgroup"));
    return write_given_oom_score();
  }

  // A request without an OOM score gets the score of the container. The caller may be a daemon with
  // the score -999: the OOM killer would spare a process that inherits such a score.
  Result<void> write_given_oom_score() const {
    const auto& given = request_.process.oom_score_adj;
    const auto& containers = plan_.config.process;
    const auto score = given || !containers ? given : containers->oom_score_adj;
    if (!score) return {};
    OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                      linux::Procfs::open(linux::Procfs::Subset::kProcesses));
    auto written = write_oom_score(procfs, *score);
    if (written || given || written.error().number() != EACCES)
      return within(std::move(written), "/oomScoreAdj");
    log_.warn(
        fmt::format("the process keeps its caller's OOM score: to lower it to {}, the container's "
                    "/process/oomScoreAdj, wants CAP_SYS_RESOURCE",
                    *score));
    return {};
  }

  Result<void> answer(const linux::Packet& packet) override {
    switch (static_cast<Message>(packet.tag)) {
      case Message::kTerminal: {
        OCIRUN_TRY_ASSIGN(terminal_, receive_terminal(packet, console_));
        return {};
      }
      case Message::kSetLimits:
        return linux::set_rlimits(pid(), request_.process.rlimits);
      case Message::kListener:
        OCIRUN_TRY(send_listener(packet, child_, *plan_.config.seccomp, state_));
        agent_has_listener_ = true;
        return {};
      default:
        return fail(EPROTO, "unexpected {}", message_name(static_cast<Message>(packet.tag)));
    }
  }

  Result<void> hear_nothing(std::chrono::seconds so_far) override {
    const auto frozen = cgroup_.freezer_state();
    const bool is_paused = frozen && *frozen == cgroups::FreezerState::kFrozen;
    if (is_paused && request_.paused == InPaused::kIsAnError) return refuse(kPaused);
    if (agent_has_listener_ && !is_paused) return no_answer_of_agent(*plan_.config.seccomp, so_far);
    log_.warn(fmt::format("still waiting after {} s, while {}{}", so_far.count(),
                          conversation().activity(), is_paused ? ": the container is paused" : ""));
    return {};
  }
  std::string cause_of_death() const override { return tell_oom(cgroup_, oom_kills_); }

  Result<linux::Child> clone() const {
    return linux::clone_process(0, plan_.cgroup.unified_directory, linux::Parentage::kMine);
  }
  // With --cgroup, the process joins exactly the given cgroup or fails.
  bool may_follow(const Error& error) const {
    return plan_.cgroup.unified_directory && request_.cgroups.empty() &&
           has_no_room_for_processes(error.number());
  }

  ExecPlan& plan_;
  const ExecRequest& request_;
  const cgroups::Cgroup& cgroup_;
  const std::uint64_t oom_kills_ = cgroup_.oom_kills().value_or(0);  // before the process was made
  Fd console_;
  bundle::StateDocument state_;
  const Log& log_;
  bool has_cloned_process_ = false;
  bool agent_has_listener_ = false;  // if true, the process may wait for the seccomp agent
  UniqueFd terminal_;
};

Result<bundle::StateDocument> state_for_exec(const Container& container, InPaused paused) {
  bundle::StateDocument state = container.state();
  if (can_exec(state.status)) return state;
  if (state.status == Status::kPaused) {
    if (paused == InPaused::kIsAllowed) return state;
    return refuse(kPaused);
  }
  return refuse("cannot exec in a {} container", status_name(state.status));
}

Result<UniqueFd> connect_console(const ExecRequest& request) {
  if (request.terminal_keeper == TerminalKeeper::kCaller) return UniqueFd();
  if (request.process.terminal && !request.console_socket)
    return refuse("--tty with --detach wants --console-socket, where the terminal is sent to");
  if (!request.process.terminal && request.console_socket)
    return refuse(
        "--console-socket: wants a terminal (--tty, or \"terminal\": true in the process file)");
  if (!request.console_socket) return UniqueFd();
  return within(linux::connect_unix(*request.console_socket), "--console-socket");
}

// Whether a system call can fail with the errno `error` because the container's init, its cgroup or
// its pid namespace has ended.
bool may_be_its_end(int error) {
  return error == ENOENT || error == ESRCH || error == ENODEV || error == ENOMEM;
}

Result<ExecutedProcess> enter(const Container& container, const bundle::Config& config,
                              const ExecRequest& request, const Log& log) {
  linux::timeline::step("find the container's namespaces");
  OCIRUN_TRY_ASSIGN(const bundle::StateDocument state, state_for_exec(container, request.paused));
  OCIRUN_TRY_ASSIGN(const UniqueFd console, connect_console(request));
  ExecPlan plan{.config = config,
                .process = request.process,
                .inheritance = request.inheritance,
                .namespaces = {},
                .cgroup = {},
                .late_cgroup = {},
                .filter = {},
                .host_root = {},
                .cookie_of = {},
                .new_keyring = container.record().new_keyring};
  OCIRUN_TRY_ASSIGN(plan.namespaces,
                    find_container_namespaces(container.init(), config, linux::kNamespaceKinds));
  OCIRUN_TRY_ASSIGN(const auto cgroup, container.cgroup());
  OCIRUN_TRY_ASSIGN(plan.cgroup, cgroup->open_for_join(request.cgroups));
  if (container.record().mounts_on_host) plan.host_root = HostPath(container.record().rootfs);
  if (bundle::wants_core_scheduling(config.annotations)) plan.cookie_of = container.init().pid;
  if (config.seccomp) {  // S-13
    OCIRUN_TRY_ASSIGN(const std::string bytes, container.filter_bytes());
    OCIRUN_TRY_ASSIGN(plan.filter, linux::parse_filter_bytes(bytes));
  }

  std::optional<ExecLink> link;
  Rollback undo;  // declared after `link`, because undo steps use `link`
  undo.add([&] { link->kill(); });
  const auto give_birth = [&] {
    linux::timeline::step("make the process, and serve it");
    link.emplace(plan, request, *cgroup, console, state, log);
    return link->give_birth(container.init().pid);
  };
  auto born = give_birth();
  // pids.max may have room for the process of `exec`, but not for the stage as well. Then only the
  // process of `exec` joins the cgroup.
  if (!born && born.error().number() == EAGAIN && !link->has_cloned_process()) {
    link->kill();
    plan.late_cgroup = std::exchange(plan.cgroup, {});
    born = give_birth();
  }
  OCIRUN_TRY(std::move(born));
  linux::timeline::step("let the process go");
  OCIRUN_TRY(cgroup->adopt(link->pid()));
  OCIRUN_TRY(request.announcement.tell(link->child(), undo));
  OCIRUN_TRY(link->detach());
  OCIRUN_TRY(link->await_exec());
  undo.commit();
  return ExecutedProcess{.child = link->take_child(),
                         .terminal = link->take_terminal(),
                         .oom_kills_before = link->oom_kills_before()};
}

}  // namespace

Result<ExecutedProcess> exec_process(const Container& container, const bundle::Config& config,
                                     const ExecRequest& request, const Log& log) {
  auto executed = enter(container, config, request, log);
  if (!executed && may_be_its_end(executed.error().number()) && linux::is_ending(container.init()))
    return refuse("cannot exec in a stopped container");
  return executed;
}

}  // namespace ocirun::runtime
