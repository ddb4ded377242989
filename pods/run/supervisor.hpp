#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pods/run/container_run.hpp"
#include "pods/run/settings.hpp"
#include "pods/run/supervisor_signals.hpp"
#include "pods/state/pod_directory.hpp"

namespace ocirun::pods {

/// Is called once, when all containers have been started, with --wait-ready when all are ready. May
/// be empty.
using Announce = std::function<void()>;

/// The processes of a pod that a supervisor has started which was killed.
struct Adopted {
  std::vector<std::optional<int>>
      programs;                           // the pid of each container's program; nothing: none runs
  std::map<int, linux::ProcessEnd> ends;  // by pid, of the programs and of the pod's own processes
};

/// Runs the containers of a pod: the init containers one after another, then the others together.
/// Asks probes, restarts containers, and stops them in order. Waits for events of all containers
/// together, and for no container alone. The table of a container's phases and events is in
/// lifecycle.cpp.
class Supervisor {
 public:
  /// The calling process must have a single thread, and becomes the parent of the containers'
  /// programs. The bundles of `runs` must be ready. `record` must have the containers in the same
  /// order.
  Supervisor(std::deque<ContainerRun>& runs, PodRecord& record, const PodDirectory& directory,
             PodServices& services, const Settings& settings, const SupervisorSignals& signals);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Returns when all containers have ended for good, or have been stopped after SIGTERM or SIGINT.
  /// The exit status is 0 if each container has ended with 0, else that of the first container that
  /// has not. Errors: a container cannot be started, or the time of --wait-ready is over;
  /// ECANCELED: the stop came before `announce` was called. All containers have then been stopped.
  Result<int> run(const Announce& announce);
  /// Goes on with the containers of a supervisor that was killed. Returns what run() returns.
  int go_on(Adopted adopted, const Announce& announce);

 private:
  int supervise();
  Result<void> run_init_containers();
  Result<void> start_containers(Clock::time_point since);
  using Runs = std::vector<ContainerRun*>;
  Result<Runs> take_startable(Runs& waiting);
  Result<void> send_on(const Runs& runs);
  Result<void> wait_until_ready(Clock::time_point since);
  /// Waits for an event, until `limit` at most, and handles it.
  void step(Clock::time_point limit);
  void reap();
  void take(int pid, int status, Clock::time_point now);
  void meet_early_ends(Clock::time_point now);
  void look_at_adopted();
  void notice_end(int pid, std::optional<int> status, Clock::time_point now);
  using Done = std::function<void(Result<void> outcome, Clock::time_point now)>;
  void run_errand(const std::function<Result<void>()>& act, std::string what, Done done);
  bool end_errand(int pid, int status, Clock::time_point now);
  void lose(std::string_view what, const std::string& end);
  void regain(std::string_view what, std::string_view event);
  void follow_forwarder(Clock::time_point now);
  void follow_network(Clock::time_point now);
  void follow_metadata(Clock::time_point now);
  void begin_stop(Clock::time_point now);
  void stop_all();
  bool all_done() const;
  bool all_ready() const;
  void save();

  /// What a child process does for the pod beside its containers.
  struct Errand {
    Command command;
    Done done;
  };

  std::deque<ContainerRun>& runs_;
  PodRecord& record_;
  const PodDirectory& directory_;
  PodServices& services_;
  const Settings& settings_;
  const SupervisorSignals& signals_;
  int stop_requests_ = 0;
  bool is_stopping_ = false;
  std::vector<Errand> errands_;
  bool missed_child_ = false;      // a wait for children has failed
  std::map<int, int> early_ends_;  // statuses by pid, of unknown children during a `create`
  Adopted adopted_;                // its processes are no children of this process
  PodRecord saved_;                // the record on disk
};

}  // namespace ocirun::pods
