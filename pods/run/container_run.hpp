#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "pods/networks/membership.hpp"
#include "pods/prepare/prepare.hpp"
#include "pods/prepare/program.hpp"
#include "pods/run/event_log.hpp"
#include "pods/run/health.hpp"
#include "pods/run/oom_kills.hpp"
#include "pods/run/output.hpp"
#include "pods/run/runtime.hpp"
#include "pods/state/record.hpp"
#include "pods/surroundings/forwarder.hpp"
#include "pods/surroundings/keeper.hpp"
#include "pods/surroundings/metadata_service.hpp"
#include "pods/systemd/service_notifier.hpp"

namespace ocirun::pods {

using Clock = std::chrono::steady_clock;

/// What all containers of a pod use together.
struct PodServices {
  const Workload& workload;
  const Runtime& runtime;
  EventLog& events;
  Restart restart = Restart::kAlways;
  std::chrono::seconds grace{30};
  UniqueFd network;  // the pod's network namespace, for probes; empty: the host's
  const Keeper* keeper = nullptr;
  std::optional<MetadataService> metadata;
  std::optional<Forwarder> forwarder;
  std::optional<Membership> membership;
  PodOomKills oom_kills;
  std::function<Result<void>()> save;   // writes the record of the pod
  LastLines tell_last_lines;            // called if the start of the pod fails; may be empty
  ServiceNotifier* notifier = nullptr;  // nullptr: none

  bool is_connected() const { return !forwarder || forwarder->is_connected(); }
};

/// One container of a pod while its supervisor runs: its program, output, probes, restarts.
class ContainerRun {
 public:
  /// `index`: the place of `record` in the record of the pod.
  ContainerRun(ReadyContainer ready, ContainerOutput output, ContainerRecord& record,
               std::size_t index, PodServices& services);

  // The three steps to a running program. Each step has a begin and an end, so that the runtime can
  // work for several containers at once. A step that has begun must be ended. Errors: what the
  // runtime has written.
  /// Checks that the runtime has no container of this id, and marks the id in the record as
  /// claimed. Another process may then remove the container that it finds by the id. The caller
  /// saves the record afterwards.
  Result<void> begin_claim();
  Result<void> end_claim();
  /// Creates the container, whose program does not run yet.
  Result<void> begin_create();
  Result<void> end_create();
  /// Starts the program.
  Result<void> begin_start();
  Result<void> end_start();
  /// Does all three steps.
  Result<void> launch();
  /// Goes on with the container of a supervisor that was killed. `pid`: of its program; nothing: no
  /// program runs. Starts a program that has ended since, or whose start was due, at the next
  /// tick(), if the restart rule of the pod says so.
  void resume(std::optional<int> pid, Clock::time_point now);
  /// Asks the program to end: sends the stop signal of the image now, and SIGKILL after the grace
  /// period.
  void stop(Clock::time_point now);
  /// Kills the program.
  void kill();
  /// Stops the program, and starts it again at once, whatever the restart rule is. Starts it too if
  /// it has ended. Does nothing for an init container, and before the first start.
  void restart(Clock::time_point now);

  int pid() const { return record_.pid; }
  /// Must be called when the program has ended, with the status of waitpid(2); nothing: the status
  /// is not known, and counts as 255. Removes the container. Starts it again later if `may_restart`
  /// and the restart rule of the pod says so.
  void ended(std::optional<int> status, Clock::time_point now, bool may_restart);

  /// Whether the container has ended and will not be started again.
  bool is_done() const { return phase_ == Phase::kDone; }
  /// Whether the containers that start after this one may start. Its startup probe must have
  /// succeeded, or its program must have ended with 0 for good.
  bool has_started() const {
    return health_.has_started() || (is_done() && record_.exit_code == 0 && !container().startup);
  }
  const Container& container() const { return *ready_.container; }
  bool is_up() const { return phase_ == Phase::kRunning || phase_ == Phase::kStopping; }

  /// Does whatever is due at `now`: probes, SIGKILL, a restart.
  void tick(Clock::time_point now);
  /// The next time when tick() has something to do.
  Clock::time_point next() const;

  ContainerOutput& output() { return output_; }
  /// Adds the descriptors that become readable with output, answers of probes, or a lack of memory.
  void add_wanted(std::vector<pollfd>& watched, Clock::time_point now) const;
  /// Takes the answer of a probe if the process `pid`, which has ended, has asked its question.
  /// Returns whether it has.
  bool collect(int pid) { return health_.collect(pid); }
  const ContainerRecord& record() const { return record_; }

  /// Cancels a restart that is due later.
  void give_up();
  /// Removes the container and its mounts, whatever its state.
  void remove();

 private:
  enum class Phase : std::uint8_t { kNew, kCreated, kRunning, kStopping, kWaiting, kDone };

  void act_on(const Health::Verdict& verdict, Clock::time_point now);
  void count_oom_kills(std::uint64_t kills);
  void keep_program() const;
  bool is_ready() const;
  Error explain_create(const Error& error);
  Result<void> run_again();
  Result<void> in_container(Result<void> result) const;
  bool wants_restart(int exit_code) const;

  ReadyContainer ready_;
  ContainerOutput output_;
  ContainerRecord& record_;
  std::size_t index_;
  PodServices& services_;
  Health health_;
  OomKills oom_kills_;
  Backoff backoff_;
  std::optional<Runtime::Call> call_;  // the call of the step that has begun
  linux::Child creating_;
  Phase phase_ = Phase::kNew;
  Clock::time_point started_, due_ = Clock::time_point::max();
  bool failed_liveness_ = false;
  bool must_restart_ = false;  // restart() was called while the program ran
};

}  // namespace ocirun::pods
