#pragma once

#include <functional>
#include <optional>
#include <string>

#include "linux/base/timeline.hpp"
#include "pods/prepare/prepare.hpp"
#include "pods/run/command.hpp"
#include "pods/run/event_log.hpp"
#include "pods/run/health.hpp"
#include "pods/run/lifecycle.hpp"
#include "pods/run/networks/membership.hpp"
#include "pods/run/oom_kills.hpp"
#include "pods/run/output.hpp"
#include "pods/run/runtime.hpp"
#include "pods/run/sandbox/forwarder.hpp"
#include "pods/run/sandbox/keeper.hpp"
#include "pods/run/sandbox/metadata_service.hpp"
#include "pods/run/units/service_notifier.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {

using Clock = std::chrono::steady_clock;

/// What all containers of a pod use together.
struct PodServices {
  const Workload& workload;
  const Runtime& runtime;
  EventLog& events;
  Restart restart = Restart::kAlways;
  std::chrono::seconds grace{30};
  bool is_readiness_awaited = false;  // --wait-ready
  UniqueFd network;                   // the pod's network namespace, for probes; empty: the host's
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

/// One container of a pod while its supervisor runs: its program, output, probes, restarts. No
/// function waits.
class ContainerRun final : private ContainerWork {
 public:
  /// `index`: the place of `record` in the record of the pod.
  ContainerRun(ReadyContainer ready, ContainerOutput output, ContainerRecord& record,
               std::size_t index, PodServices& services);
  ContainerRun(const ContainerRun&) = delete;
  ContainerRun& operator=(const ContainerRun&) = delete;

  /// Creates the container, or starts its program if the container has been created.
  void go(Clock::time_point now) { life_.handle(Event::kGo, now); }
  /// Goes on with the container of a supervisor that was killed. `pid`: of its program; nothing: no
  /// program runs. Starts a program that has ended since, or whose start was due, again, if the
  /// restart rule of the pod says so.
  void resume(std::optional<int> pid, Clock::time_point now);
  /// Asks the program to end: sends the stop signal of the image now, and SIGKILL after the grace
  /// period. The container does not start again.
  void stop(Clock::time_point now) { life_.handle(Event::kStop, now, services_.grace); }
  /// Kills the program. The container does not start again.
  void kill(Clock::time_point now) { life_.handle(Event::kKill, now); }
  /// Stops the program, and starts it again at once, whatever the restart rule is. Starts it too if
  /// it has ended. Does nothing for an init container, and while the container starts.
  void restart(Clock::time_point now);
  /// Does whatever is due at `now`: probes, SIGKILL, a restart.
  void tick(Clock::time_point now);
  /// The next time when tick() has something to do.
  Clock::time_point next() const;

  /// Adds the descriptors that become readable with output, answers of probes, errors of the
  /// runtime, or a lack of memory.
  void add_wanted(std::vector<pollfd>& watched, Clock::time_point now) const;
  /// Reads the present output of the program.
  void read_output(Clock::time_point now);
  /// Takes the answer of a probe if the process `pid`, which has ended and is not reaped, has asked
  /// its question. Returns whether it has.
  bool collect_probe(int pid) { return health_.collect(pid); }
  /// Takes the end of a command that works for the container. Returns false for another process.
  bool collect(int pid, int status, Clock::time_point now);
  /// Must be called when the program has ended, with the status of waitpid(2); nothing: the status
  /// is not known, and counts as 255.
  void ended(std::optional<int> status, Clock::time_point now);

  Phase phase() const { return life_.phase(); }
  /// Whether the container is on its way to kCreated or kRunning.
  bool is_on_its_way() const;
  /// Whether the container has ended and will not be started again.
  bool is_done() const { return phase() == Phase::kDone; }
  /// Whether the containers that start after this one may start. Its startup probe must have
  /// succeeded or, if it has none, its program must have been started, or must have ended with 0
  /// for good.
  bool has_started() const {
    return health_.has_started() || (is_done() && record_.exit_code == 0 && !container().startup);
  }
  /// Why the container could not be started for the first time.
  const std::optional<Error>& failure() const { return failure_; }
  int pid() const { return record_.pid; }
  const Container& container() const { return *ready_.container; }
  const ContainerRecord& record() const { return record_; }
  Clock::time_point next_output(Clock::time_point now) const {
    return std::min(output_.next(now), health_.next_output(now));
  }

 private:
  Result<bool> begin(Job job) override;
  void abandon() override;
  void send_stop_signal() override;
  void send_sigkill(bool is_late) override;
  void record_start(Clock::time_point now) override;
  void record_end(Clock::time_point now) override;
  void record_failure(bool is_first) override;
  void record_no_start() override;
  void record_leftover() override;
  void record_outlook(std::optional<Clock::time_point> next) override;
  bool wants_restart() const override;

  Result<Command> make_root();
  Result<Command> create();
  Result<void> finish(int status);
  Result<void> finish_claim(int status);
  Result<void> finish_create(int status);
  Result<void> finish_removal(int status);
  Error explain_create(const Error& error);
  void keep_program() const;
  void send(int signal);
  void act_on(const Health::Verdict& verdict, Clock::time_point now);
  void count_oom_kills(std::uint64_t kills);
  bool is_up() const { return phase() == Phase::kRunning || phase() == Phase::kStopping; }
  /// Whether the runtime creates the container now. Its errors then come through output_.
  bool is_being_created() const { return job_ == Job::kCreate && command_; }
  bool is_ready() const;
  template <class Value>
  Result<Value> in_container(Result<Value> result) const {
    return within(std::move(result), "container \"{}\"", record_.name);
  }

  ReadyContainer ready_;
  ContainerOutput output_;
  ContainerRecord& record_;
  std::size_t index_;
  PodServices& services_;
  Health health_;
  OomKills oom_kills_;
  Lifecycle life_;
  Job job_ = Job::kClaim;
  std::optional<Command> command_;     // works on job_
  std::optional<Command> signalling_;  // sends signal_
  int signal_ = 0;
  bool is_abandoned_ = false;   // command_ was killed because the pod stops
  bool may_exist_;              // a container of the id that is ours; false: only `state` can tell
  std::optional<Owner> owner_;  // of the container that is removed, when `state` has told
  std::optional<Error> error_;  // of the last job
  std::optional<Error> failure_;
  linux::timeline::Lane lane_;  // until the pod has started
  std::optional<int> end_;      // the status of the program that has ended
  bool failed_liveness_ = false;
};

}  // namespace ocirun::pods
