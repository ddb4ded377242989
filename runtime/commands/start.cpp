#include "runtime/commands/start.hpp"

#include <cerrno>
#include <csignal>
#include <span>
#include <vector>

#include "bundle/documents/hook_runs.hpp"
#include "hooks/run_hook.hpp"
#include "linux/base/text.hpp"
#include "linux/base/timeline.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/commands/destroy.hpp"
#include "runtime/parent/agent.hpp"
#include "runtime/parent/exit_watcher.hpp"
#include "runtime/parent/init_link.hpp"
#include "runtime/protocol/hook_times.hpp"
#include "runtime/protocol/start_gate.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

constexpr char kGoesOnAlready[] =
    "the container was started already: its program runs, or is about to run";

// The connection to init closes when init calls execve, and also when init dies. /proc/PID/stat of
// a living init or of a zombie tells whether init has called execve. If /proc does not show init
// any more, init has ended, and `start` reports no error.
Result<void> check_executed(const bundle::ContainerRecord& record) {
  const auto stat = linux::read_process_stat(record.init_pid);
  if (!stat || stat->start_time != record.init_start_time || stat->has_executed) return {};
  return refuse("{}", kEndedBeforeExec);
}

// Whether init may wait for a seccomp agent: init sleeps (state S) and is not frozen. An init that
// a signal has stopped has the state T. An init that waits for a disk has the state D.
bool may_wait_for_agent(const bundle::ContainerRecord& record) {
  const auto stat = linux::read_process_stat(record.init_pid);
  return stat && stat->state == 'S' && !is_frozen(record);
}

// Called after each ten seconds without a message of init. An init that waits for the seccomp agent
// is killed, because the wait would have no end.
Result<void> hear_nothing(const StateDirectory& directory, const bundle::ContainerRecord& record,
                          const Log& log, std::chrono::seconds so_far, bool executing) {
  const auto config = directory.read_snapshot(record.bundle);
  const bool may_be_hook =
      !executing && config && !config->hooks.of(hooks::Kind::kStartContainer).empty();
  const bool has_agent = config && config->seccomp && !config->seccomp->listener_path.empty();
  if (has_agent && !may_be_hook && may_wait_for_agent(record)) {
    ignore(linux::send_signal(record.init(), SIGKILL));
    return no_answer_of_agent(*config->seccomp, so_far);
  }
  if (should_warn_of_silence(may_be_hook, so_far))
    log.warn(fmt::format(
        "after {} s the program of the container has not been executed yet: the container's "
        "process {}",
        so_far.count(), executing ? "is executing it" : "was told to start"));
  return {};
}

/// Records the startContainer hooks of which init has told the times.
void record_init_hooks(const StateDirectory& directory, const bundle::ContainerRecord& record,
                       std::string_view times, const Log& log) {
  const auto config = directory.read_snapshot(record.bundle);
  if (config)
    record_hooks_run(directory,
                     parse_hook_times(times, config->hooks, hooks::Kind::kStartContainer), log);
}

}  // namespace

Result<void> run_poststart(const StateDirectory& directory, const bundle::ContainerRecord& record,
                           const Log& log) {
  if (!record.has_poststart) return {};
  OCIRUN_TRY_ASSIGN(const bundle::Config config, directory.read_snapshot(record.bundle));
  bundle::StateDocument state = document_of(record);
  state.status = Status::kRunning;
  state.pid = record.init_pid;
  hooks::Context hook_context = on_host(state, HostPath(record.bundle), log);
  std::vector<hooks::HookRun> ran;
  hook_context.ran = &ran;
  const hooks::FailureRule rule = config.edition == bundle::Edition::kLegacy05
                                      ? hooks::FailureRule::kContinue
                                      : hooks::failure_rule(hooks::Kind::kPoststart);
  directory.unlock();  // a hook may ask for the container's state
  auto outcome = hooks::run_phase(config.hooks, hooks::Kind::kPoststart, rule, hook_context);
  OCIRUN_TRY(directory.lock(kLockPatience));
  if (!directory.exists()) return refuse("the container was deleted while its poststart hooks ran");
  record_hooks_run(directory, ran, log);
  return outcome;
}

std::unexpected<Error> refuse_start(Status status) {
  return refuse("cannot start a container that is {}: it must be created", status_name(status));
}

Result<void> start_container(const StateDirectory& directory, const bundle::ContainerRecord& record,
                             const Log& log) {
  if (!record.has_process)
    return refuse("/process: must be given in config.json to start a container");
  linux::timeline::step("start the program");
  const linux::ProcessIdentity init = record.init();
  std::string begun;
  auto gate = directory.connect_to_start();
  if (!gate && gate.error().number() == ECONNREFUSED) {
    if (linux::is_ending(init))  // init was killed after its status was read
      return refuse_start(Status::kStopped);
    // Init listens no more, and lives: an earlier `start`, which was killed, has released init, and
    // init has not called execve yet.
    Error error = std::move(gate).error();
    return std::unexpected(error.within(kGoesOnAlready));
  }
  if (!gate) return std::unexpected(gate.error());
  auto outcome = await_exec(
      *gate, {.warn = [&](std::string_view text) { log.warn(text); },
              .hooks_ran =
                  [&](std::string_view times) { record_init_hooks(directory, record, times, log); },
              .executes = [&] { begun = linux::rfc3339_now(9); },
              .on_silence =
                  [&](auto so_far, bool executing) {
                    return hear_nothing(directory, record, log, so_far, executing);
                  }});
  // Init accepts the first connection, and closes every later connection (ECONNRESET). An earlier
  // `start`, which was killed, has made the first connection.
  if (!outcome && outcome.error().number() == ECONNRESET && !linux::is_ending(init))
    return refuse("{}", kGoesOnAlready);
  if (outcome) outcome = check_executed(record);
  if (outcome) {
    const auto recorded = record_start(directory, record, begun);
    if (!recorded) log.warn(recorded.error().message());
  }
  directory.forget_start();
  linux::timeline::step("poststart hooks");
  if (outcome)
    outcome = run_poststart(directory, record, log);
  else if (!hooks::is_hook_failure(outcome.error()))
    return outcome;  // the container is stopped, and stays for the caller to delete
  // The container is destroyed after a failed hook, unless another command has deleted or locked
  // (EBUSY) the container meanwhile.
  if (!outcome && directory.exists() && outcome.error().number() != EBUSY) {
    const auto destroyed = destroy_container(directory, record, log);
    if (!destroyed) log.warn(destroyed.error().message());
  }
  return outcome;
}

}  // namespace ocirun::runtime
