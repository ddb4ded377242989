#include "pods/run/container_run.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "linux/process/pidfd.hpp"
#include "pods/run/logs/line.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kCutOff = "the pod's network is cut off";
constexpr int kUnknownStatus = 255;

/// The exit status in the form of shells: 128 + N after signal N.
int exit_code_of(std::optional<int> status) {
  if (!status) return kUnknownStatus;
  return WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
}

}  // namespace

ContainerRun::ContainerRun(ReadyContainer ready, ContainerOutput output, ContainerRecord& record,
                           std::size_t index, PodServices& services)
    : ready_(std::move(ready)),
      output_(std::move(output)),
      record_(record),
      index_(index),
      services_(services),
      health_(*ready_.container, services.runtime, record.id, ready_.bundle, services.network),
      oom_kills_(services.oom_kills),
      life_(*this),
      may_exist_(record.is_claimed),
      lane_(record.name) {}

void ContainerRun::resume(std::optional<int> pid, Clock::time_point now) {
  const bool has_exited = record_.status == ContainerStatus::kExited;
  if (record_.is_init || (has_exited && !wants_restart())) return life_.adopt_done();
  const std::uint16_t slot = Keeper::output_slot(index_);
  auto out = services_.keeper->take(slot);
  auto err = services_.keeper->take(slot + 1);
  if (out && err) output_.resume({*std::move(out), *std::move(err)});
  // Although the restart rule wants another run, the record says kExited only if the supervisor was
  // stopping the pod.
  if (has_exited || record_.status == ContainerStatus::kWaiting) return life_.adopt_waiting(now);
  life_.adopt_running(now);
  if (!pid) {
    const auto program = services_.keeper->take(Keeper::program_slot(index_));
    return ended(program ? linux::status_after_end(*program) : std::nullopt, now);
  }
  record_.pid = *pid;
  oom_kills_.resume(record_);
  health_.begin(now);
  record_.ready = is_ready();
}

void ContainerRun::restart(Clock::time_point now) {
  if (record_.is_init || life_.must_restart() || is_on_its_way() || phase() == Phase::kNew) return;
  services_.events.add("restarting", record_.name, "`ocirun pod restart` was called");
  life_.handle(Event::kRestart, now, services_.grace);
}

void ContainerRun::tick(Clock::time_point now) {
  if (is_up()) count_oom_kills(oom_kills_.look(now));
  for (auto* command : {&command_, &signalling_})
    if (*command && now >= (*command)->deadline()) (*command)->kill(Command::too_long());
  if (now >= life_.due()) life_.handle(Event::kDue, now);
  if (phase() == Phase::kRunning && !record_.is_init) act_on(health_.tick(now), now);
}

Clock::time_point ContainerRun::next() const {
  Clock::time_point next = life_.due();
  if (command_) next = std::min(next, command_->deadline());
  if (signalling_) next = std::min(next, signalling_->deadline());
  if (is_up()) next = std::min(next, oom_kills_.next());
  if (phase() == Phase::kRunning) next = std::min(next, health_.next());
  return next;
}

void ContainerRun::act_on(const Health::Verdict& verdict, Clock::time_point now) {
  if (record_.ready != is_ready()) {
    lane_.end();
    record_.ready = is_ready();
    const std::string why = services_.is_connected() ? verdict.reason : std::string(kCutOff);
    record_.reason = record_.ready ? "" : why;
    services_.events.add(record_.ready ? "ready" : "not-ready", record_.name, record_.reason);
  } else if (!record_.ready && !verdict.reason.empty()) {
    record_.reason = verdict.reason;
  }
  if (!verdict.must_restart) return;
  services_.events.add("unhealthy", record_.name, verdict.reason);
  failed_liveness_ = true;
  life_.handle(Event::kUnhealthy, now, verdict.grace.value_or(services_.grace));
}

void ContainerRun::add_wanted(std::vector<pollfd>& watched, Clock::time_point now) const {
  if (!is_being_created())
    for (const pollfd& stream : output_.wanted(now))
      if (stream.fd >= 0) watched.push_back(stream);
  for (const auto* command : {&command_, &signalling_})
    if (*command) (*command)->add_wanted(watched);
  health_.add_wanted(watched, now);
  if (is_up()) oom_kills_.add_wanted(watched);
}

void ContainerRun::read_output(Clock::time_point now) {
  if (!is_being_created()) output_.read_some(now);
  for (auto* command : {&command_, &signalling_})
    if (*command) (*command)->read();
}

bool ContainerRun::collect(int pid, int status, Clock::time_point now) {
  if (signalling_ && signalling_->pid() == pid) {
    // An error means that the program has just ended, or is killed again later.
    signalling_.reset();
    return true;
  }
  if (!command_ || command_->pid() != pid) return false;
  const auto done = finish(status);
  lane_.end();
  if (command_ && command_->pid() != pid) return true;  // the job goes on with another command
  command_.reset();
  if (!done) error_ = done.error();
  life_.handle(done ? Event::kDone : Event::kFailed, now);
  return true;
}

void ContainerRun::ended(std::optional<int> status, Clock::time_point now) {
  end_ = status;
  if (phase() == Phase::kCreated)
    error_ = in_container<void>(
                 refuse("the program {} before it was started", linux::describe_end(status)))
                 .error();
  life_.handle(Event::kEnded, now);
}

bool ContainerRun::is_on_its_way() const {
  switch (phase()) {
    case Phase::kMaking:
    case Phase::kClaiming:
    case Phase::kCreating:
    case Phase::kStarting:
      return true;
    default:
      return false;
  }
}

bool ContainerRun::is_ready() const {
  return !record_.is_init && health_.is_ready() && services_.is_connected();
}

void ContainerRun::count_oom_kills(std::uint64_t kills) {
  if (kills == 0) return;
  record_.oom_kills += kills;
  services_.events.add("oom-kill", record_.name,
                       fmt::format("{} because a memory limit was reached",
                                   kills == 1 ? std::string("a process was killed")
                                              : fmt::format("{} processes were killed", kills)),
                       record_.oom_kills);
}

void ContainerRun::send_stop_signal() {
  record_.ready = false;
  health_.end();
  services_.events.add("stopping", record_.name);
  send(ready_.stop_signal);
}

void ContainerRun::send_sigkill(bool is_late) {
  if (is_late)
    services_.events.add("killing", record_.name, "it did not end within the grace period");
  health_.end();
  count_oom_kills(oom_kills_.look(Clock::now()));
  oom_kills_.expect_sigkill();
  send(SIGKILL);
}

void ContainerRun::record_start(Clock::time_point now) {
  failed_liveness_ = false;
  record_.status = ContainerStatus::kRunning;
  record_.started_at = present_text();
  record_.next_start.clear();
  record_.reason.clear();
  record_.exit_code.reset();
  record_.oom_killed = false;
  if (!record_.is_init) health_.begin(now);
  record_.ready = is_ready();
  if (services_.is_readiness_awaited && !record_.ready && !record_.is_init)
    lane_.step("wait until ready");
  services_.events.add("started", record_.name);
}

void ContainerRun::record_end(Clock::time_point now) {
  health_.end();
  lane_.end();
  record_.exit_code = exit_code_of(end_);
  const OomKills::Last last =
      oom_kills_.end(end_ && WIFSIGNALED(*end_) && WTERMSIG(*end_) == SIGKILL, now);
  count_oom_kills(last.kills);
  record_.oom_killed = last.program;
  record_.finished_at = present_text();
  record_.reason = record_.oom_killed ? "was killed because its memory limit was reached"
                                      : linux::describe_end(end_);
  if (failed_liveness_) record_.reason += " after its liveness probe had failed";
  record_.pid = 0;
  record_.ready = false;
  services_.events.add(record_.oom_killed ? "oom-killed" : "exited", record_.name, record_.reason);
  output_.finish();
}

void ContainerRun::record_failure(bool is_first) {
  health_.end();
  output_.finish();
  record_.pid = 0;
  record_.ready = false;
  if (is_first) {
    failure_ = std::move(error_);
    return;
  }
  record_.reason = error_->message();
  services_.events.add("failed", record_.name, record_.reason);
}

void ContainerRun::record_no_start() {
  output_.finish();
  count_oom_kills(oom_kills_.end(false, Clock::now()).kills);
  record_.pid = 0;
  record_.ready = false;
  record_.reason = "was not started, because the pod was stopped";
}

void ContainerRun::record_leftover() {
  record_.reason = error_->message();
  services_.events.add("not-removed", record_.name, record_.reason);
}

/// A container whose program has never run keeps its status.
void ContainerRun::record_outlook(std::optional<Clock::time_point> next) {
  record_.next_start = next ? time_text_after(*next - Clock::now()) : "";
  if (next)
    record_.status = ContainerStatus::kWaiting;
  else if (!record_.started_at.empty())
    record_.status = ContainerStatus::kExited;
}

bool ContainerRun::wants_restart() const {
  if (record_.is_init || services_.restart == Restart::kNever) return false;
  return services_.restart == Restart::kAlways || record_.exit_code.value_or(kUnknownStatus) != 0;
}

}  // namespace ocirun::pods
