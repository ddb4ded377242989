#include "pods/run/supervisor.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "linux/base/timeline.hpp"

namespace ocirun::pods {
namespace {

constexpr std::chrono::milliseconds kPauseAfterMiss{100};
constexpr std::chrono::seconds kPauseAfterFullDisk{1};

/// How long the runtime's commands may take, besides the waits that document or options ask for.
constexpr std::chrono::minutes kCommandPatience{1};

}  // namespace

Supervisor::Supervisor(std::deque<ContainerRun>& runs, PodRecord& record,
                       const PodDirectory& directory, PodServices& services,
                       const Settings& settings, const SupervisorSignals& signals)
    : runs_(runs),
      record_(record),
      directory_(directory),
      services_(services),
      settings_(settings),
      signals_(signals) {}

/// Nothing may work on a pod that is taken down.
Supervisor::~Supervisor() {
  for (Errand& errand : errands_) errand.command.kill("was killed because the pod ends");
}

Result<int> Supervisor::run(const Announce& announce) {
  // The runtime's `create` ends before its container, which then becomes a child of this process.
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return fail(errno, "adopt the containers");
  const Clock::time_point begun = Clock::now();
  if (services_.notifier != nullptr)
    services_.notifier->tell_starting(settings_.ready_within.value_or(std::chrono::seconds(0)) +
                                      kCommandPatience);
  linux::timeline::step("run the init containers");
  auto started = run_init_containers();
  linux::timeline::step("start the containers");
  if (started && !is_stopping_) started = start_containers(begun);
  if (started && settings_.ready_within) {
    linux::timeline::step("wait until ready");
    started = wait_until_ready(begun);
  }
  if (is_stopping_) {  // whatever has failed meanwhile: the stop may be why
    supervise();
    return fail(ECANCELED, "the pod was stopped before all containers were {}",
                settings_.ready_within ? "ready" : "started");
  }
  if (!started) {
    record_.status = PodStatus::kFailed;
    record_.reason = started.error().message();
    services_.events.add("failed", "", record_.reason);
    tell_last_lines(record_, services_.tell_last_lines);
    stop_all();
    save();
    return std::unexpected(started.error());
  }
  record_.status = PodStatus::kRunning;
  services_.events.add("running");
  save();
  if (announce) announce();
  return supervise();
}

int Supervisor::supervise() {
  while (!all_done()) step(Clock::time_point::max());
  const int status = exit_status_of(record_);
  record_.is_stopping = false;
  record_.status = status == 0 || stop_requests_ != 0 ? PodStatus::kStopped : PodStatus::kFailed;
  services_.events.add(name_of(record_.status));
  save();
  return status;
}

int Supervisor::go_on(Adopted adopted, const Announce& announce) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // for containers that are started again
  services_.events.add("adopted");
  record_.is_stopping = false;
  adopted_ = std::move(adopted);
  const Clock::time_point now = Clock::now();
  for (std::size_t i = 0; i < runs_.size(); ++i) runs_[i].resume(adopted_.programs[i], now);
  save();
  if (announce) announce();
  return supervise();
}

void Supervisor::step(Clock::time_point limit) {
  std::vector<pollfd> watched{{signals_.fd().value, POLLIN, 0}};
  Clock::time_point until = limit;
  Clock::time_point now = Clock::now();
  for (ContainerRun& run : runs_) {
    run.add_wanted(watched, now);
    until = std::min({until, run.next(), run.next_output(now)});
  }
  if (services_.metadata) {
    services_.metadata->add_wanted(watched);
    until = std::min(until, services_.metadata->next());
  }
  for (const Errand& errand : errands_) errand.command.add_wanted(watched);
  if (services_.notifier != nullptr) until = std::min(until, services_.notifier->next());
  if (services_.forwarder) until = std::min(until, services_.forwarder->next());
  if (services_.membership) {
    services_.membership->add_wanted(watched);
    until = std::min(until, services_.membership->next());
  }
  if (missed_child_) until = std::min(until, now + kPauseAfterMiss);
  if (record_ != saved_) until = std::min(until, now + kPauseAfterFullDisk);
  for (const auto& [pid, end] : adopted_.ends) {
    watched.push_back(end.wanted());
    until = std::min(until, now + end.poll_limit());
  }
  int wait = -1;
  if (until != Clock::time_point::max())
    wait = static_cast<int>(std::clamp<std::int64_t>(
        std::chrono::ceil<std::chrono::milliseconds>(until - now).count(), 0, 3'600'000));
  ::poll(watched.data(), watched.size(), wait);
  now = Clock::now();
  for (ContainerRun& run : runs_) run.read_output(now);
  for (Errand& errand : errands_) errand.command.read();
  const SupervisorSignals::Requests requests = signals_.take();
  stop_requests_ += requests.count;
  if (requests.grace) services_.grace = *requests.grace;
  reap();
  look_at_adopted();
  now = Clock::now();
  if (requests.count != 0) begin_stop(now);
  if (!is_stopping_)
    for (const RestartRequest& request : requests.restarts) {
      if (request.container >= runs_.size()) continue;
      ContainerRun& run = runs_[request.container];
      if (RestartRequest::of(request.container, run.record().restarts) == request) run.restart(now);
    }
  if (services_.forwarder) follow_forwarder(now);
  if (services_.membership) follow_network(now);
  if (services_.metadata) follow_metadata(now);
  for (ContainerRun& run : runs_) run.tick(now);
  if (services_.notifier != nullptr) services_.notifier->tell_alive(now);
  save();
}

/// Reaps the programs of containers, commands, and orphans that programs have left behind. The
/// owner of a probe reaps its process.
void Supervisor::reap() {
  for (;;) {
    siginfo_t child{};
    // SIGCHLD has been read already, and does not come again for this child.
    missed_child_ =
        ::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 && errno != ECHILD;
    if (missed_child_ || child.si_pid == 0) return;
    if (std::ranges::any_of(runs_,
                            [&](ContainerRun& run) { return run.collect_probe(child.si_pid); }))
      continue;
    int status = 0;
    missed_child_ = ::waitpid(child.si_pid, &status, __WALL) != child.si_pid;
    if (missed_child_) return;
    take(child.si_pid, status, Clock::now());
  }
}

/// Takes the status of a child that was reaped.
void Supervisor::take(int pid, int status, Clock::time_point now) {
  if (end_errand(pid, status, now)) return;
  const auto creates = [](const ContainerRun& run) { return run.phase() == Phase::kCreating; };
  if (std::ranges::any_of(runs_,
                          [&](ContainerRun& run) { return run.collect(pid, status, now); })) {
    meet_early_ends(now);
  } else if (std::ranges::any_of(runs_, creates)) {
    early_ends_[pid] = status;  // perhaps of a program whose pid the runtime has not told yet
  }
  notice_end(pid, status, now);
}

/// Tells containers that their programs ended before `create` did.
void Supervisor::meet_early_ends(Clock::time_point now) {
  for (ContainerRun& run : runs_) {
    const auto early = early_ends_.extract(run.pid());
    if (!early.empty() && ::kill(run.pid(), 0) != 0) run.ended(early.mapped(), now);
  }
  if (std::ranges::none_of(runs_,
                           [](const ContainerRun& run) { return run.phase() == Phase::kCreating; }))
    early_ends_.clear();
}

void Supervisor::look_at_adopted() {
  for (auto process = adopted_.ends.begin(); process != adopted_.ends.end();) {
    if (!process->second.has_come()) {
      ++process;
      continue;
    }
    const int pid = process->first;
    const std::optional<int> status = process->second.status();
    process = adopted_.ends.erase(process);
    notice_end(pid, status, Clock::now());
  }
}

/// The second request kills what the first one has asked to end.
void Supervisor::begin_stop(Clock::time_point now) {
  if (stop_requests_ > 1)
    for (ContainerRun& run : runs_) run.kill(now);
  if (is_stopping_) return;
  is_stopping_ = true;
  services_.events.add("stopping");
  if (services_.notifier != nullptr)
    services_.notifier->tell_stopping(services_.grace + kCommandPatience);
  record_.is_stopping = record_.status != PodStatus::kFailed;
  save();
  for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) run->stop(now);
}

void Supervisor::stop_all() {
  begin_stop(Clock::now());
  while (!all_done()) step(Clock::time_point::max());
}

bool Supervisor::all_done() const { return std::ranges::all_of(runs_, &ContainerRun::is_done); }

/// A full disk must not end the pod: step() tries again.
void Supervisor::save() {
  if (record_ == saved_) return;
  if (services_.notifier != nullptr) services_.notifier->tell_state(record_);
  if (write_record(directory_.fd(), record_)) saved_ = record_;
}

}  // namespace ocirun::pods
