#include "pods/run/container_run.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "linux/process/pidfd.hpp"
#include "pods/logs/line.hpp"
#include "pods/run/runtime.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kCutOff = "the pod's network is cut off";

constexpr int kUnknownStatus = 255;
constexpr std::chrono::seconds kBetweenKills{1};

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
      oom_kills_(services.oom_kills) {}

Result<void> ContainerRun::in_container(Result<void> result) const {
  return within(std::move(result), "container \"{}\"", record_.name);
}

Result<void> ContainerRun::begin_claim() {
  TRY_ASSIGN(call_, services_.runtime.begin_state(record_.id));
  return {};
}

Result<void> ContainerRun::end_claim() {
  if (Runtime::end(*call_))
    return in_container(refuse(
        "the runtime has a container \"{}\" already, which is of somebody else", record_.id));
  record_.is_claimed = true;
  return {};
}

Result<void> ContainerRun::begin_create() {
  // Only now, because an init container may have made the parts.
  for (const SubPath& part : ready_.parts) TRY(in_container(show(part)));
  TRY_ASSIGN(const Streams streams, output_.open());
  // Without a keeper the pod cannot be adopted, and its containers go on.
  if (services_.keeper != nullptr)
    static_cast<void>(services_.keeper->keep(Keeper::output_slot(index_), output_.readers()));
  auto begun = services_.runtime.begin_create(record_.id, ready_.bundle, streams);
  output_.close_writers();
  if (!begun) return in_container(std::unexpected(begun.error()));
  creating_ = *std::move(begun);
  return {};
}

Result<void> ContainerRun::end_create() {
  const auto pid = services_.runtime.end_create(creating_, ready_.bundle);
  if (!pid) return std::unexpected(explain_create(pid.error()));
  record_.pid = *pid;
  if (services_.keeper != nullptr) keep_program();
  oom_kills_.begin(record_);
  phase_ = Phase::kCreated;
  services_.events.add("created", record_.name);
  return {};
}

/// Without the pidfd the exit status of the program is not known after the end of the supervisor.
void ContainerRun::keep_program() const {
  const auto program = linux::identify_process(record_.pid);
  if (!program) return;
  const auto pidfd = linux::open_pidfd(*program);
  if (pidfd)
    static_cast<void>(services_.keeper->keep(Keeper::program_slot(index_), std::array{Fd(*pidfd)}));
}

/// The error that the runtime has written. If the program cannot be executed, adds its place in the
/// document, and records the exit code that a shell would have.
Error ContainerRun::explain_create(const Error& error) {
  const std::string said = output_.take_error();
  const std::string all = fmt::format("{}{}{}", error.message(), said.empty() ? "" : ": ", said);
  Error explained = in_container(refuse("{}", all)).error();
  const auto status = status_of_missing_program(said);
  if (!status) return explained;
  record_.exit_code = status;
  record_.reason = all;
  if (const Place place = place_of_program(*ready_.container, ready_.launch.args.front()))
    explained.within(services_.workload.at(place));
  return explained;
}

Result<void> ContainerRun::begin_start() {
  auto begun = services_.runtime.begin_start(record_.id);
  if (!begun) return in_container(std::unexpected(begun.error()));
  call_ = *std::move(begun);
  return {};
}

Result<void> ContainerRun::end_start() {
  TRY(in_container(Runtime::end(*call_)));
  phase_ = Phase::kRunning;
  started_ = Clock::now();
  failed_liveness_ = false;
  record_.status = ContainerStatus::kRunning;
  record_.started_at = present_text();
  record_.reason.clear();
  record_.exit_code.reset();
  record_.oom_killed = false;
  if (!record_.is_init) health_.begin(started_);
  record_.ready = is_ready();
  services_.events.add("started", record_.name);
  return {};
}

void ContainerRun::resume(std::optional<int> pid, Clock::time_point now) {
  phase_ = Phase::kDone;
  if (record_.is_init) return;
  const bool has_exited = record_.status == ContainerStatus::kExited;
  if (has_exited && !wants_restart(record_.exit_code.value_or(kUnknownStatus))) return;
  const std::uint16_t slot = Keeper::output_slot(index_);
  auto out = services_.keeper->take(slot);
  auto err = services_.keeper->take(slot + 1);
  if (out && err) output_.resume({*std::move(out), *std::move(err)});
  started_ = now;
  // A container has exited for good only while the supervisor stopped the pod.
  if (has_exited || record_.status == ContainerStatus::kWaiting) {
    remove();
    record_.status = ContainerStatus::kWaiting;
    phase_ = Phase::kWaiting;
    due_ = now;
    return;
  }
  if (!pid) {
    const auto program = services_.keeper->take(Keeper::program_slot(index_));
    return ended(program ? linux::status_after_end(*program) : std::nullopt, now, true);
  }
  record_.pid = *pid;
  phase_ = Phase::kRunning;
  oom_kills_.resume(record_);
  health_.begin(now);
  record_.ready = is_ready();
}

void ContainerRun::stop(Clock::time_point now) {
  if (phase_ == Phase::kCreated) return kill();  // its program has not run yet
  // A stop of the pod may give less time than the restart that stops this container.
  if (phase_ == Phase::kStopping) due_ = std::min(due_, now + services_.grace);
  if (phase_ != Phase::kRunning) return;
  phase_ = Phase::kStopping;
  due_ = now + services_.grace;
  record_.ready = false;
  health_.end();
  services_.events.add("stopping", record_.name);
  // An error means that the program has just ended, which SIGCHLD tells.
  static_cast<void>(services_.runtime.kill(record_.id, ready_.stop_signal));
}

void ContainerRun::kill() {
  if (phase_ == Phase::kCreated) phase_ = Phase::kStopping;
  if (!is_up()) return;
  phase_ = Phase::kStopping;
  due_ = Clock::time_point::max();
  health_.end();
  count_oom_kills(oom_kills_.look(Clock::now()));
  oom_kills_.expect_sigkill();
  // tick() tries again.
  if (!services_.runtime.kill(record_.id, SIGKILL)) due_ = Clock::now() + kBetweenKills;
}

void ContainerRun::restart(Clock::time_point now) {
  if (record_.is_init || must_restart_ || phase_ == Phase::kNew || phase_ == Phase::kCreated)
    return;
  services_.events.add("restarting", record_.name, "`ocirun pod restart` was called");
  if (is_up()) {
    must_restart_ = true;
    return stop(now);
  }
  phase_ = Phase::kWaiting;
  due_ = now;
}

void ContainerRun::ended(std::optional<int> status, Clock::time_point now, bool may_restart) {
  health_.end();
  record_.exit_code = exit_code_of(status);
  const OomKills::Last last =
      oom_kills_.end(status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL, now);
  count_oom_kills(last.kills);
  record_.oom_killed = last.program;
  record_.finished_at = present_text();
  record_.reason = record_.oom_killed ? "was killed because its memory limit was reached"
                                      : linux::describe_end(status);
  if (failed_liveness_) record_.reason += " after its liveness probe had failed";
  record_.pid = 0;
  record_.ready = false;
  services_.events.add(record_.oom_killed ? "oom-killed" : "exited", record_.name, record_.reason);
  const bool was_asked = std::exchange(must_restart_, false);
  if (!record_.is_init && may_restart && (was_asked || wants_restart(*record_.exit_code))) {
    phase_ = Phase::kWaiting;
    record_.status = ContainerStatus::kWaiting;
    due_ = was_asked ? now : now + backoff_.after_run_of(now - started_);
  } else {
    phase_ = Phase::kDone;
    due_ = Clock::time_point::max();
    record_.status = ContainerStatus::kExited;
  }
  // Whoever adopts the pod must not look for a container that is removed.
  static_cast<void>(services_.save());
  remove();
  output_.finish();
}

bool ContainerRun::wants_restart(int exit_code) const {
  return services_.restart == Restart::kAlways ||
         (services_.restart == Restart::kOnFailure && exit_code != 0);
}

Result<void> ContainerRun::launch() {
  TRY(begin_claim());
  TRY(end_claim());
  TRY(services_.save());
  TRY(begin_create());
  TRY(end_create());
  TRY(begin_start());
  return end_start();
}

Result<void> ContainerRun::run_again() {
  ++record_.restarts;
  if (ready_.root) TRY(ready_.root->make());
  return launch();
}

void ContainerRun::tick(Clock::time_point now) {
  if (is_up()) count_oom_kills(oom_kills_.look(now));
  if (phase_ == Phase::kStopping && now >= due_) {
    services_.events.add("killing", record_.name, "it did not end within the grace period");
    return kill();
  }
  if (phase_ == Phase::kWaiting && now >= due_) {
    const auto again = run_again();
    if (again) return;
    remove();
    record_.pid = 0;
    record_.status = ContainerStatus::kWaiting;
    record_.reason = again.error().message();
    services_.events.add("failed", record_.name, record_.reason);
    phase_ = Phase::kWaiting;
    due_ = now + backoff_.after_run_of({});
    return;
  }
  if (phase_ == Phase::kRunning && !record_.is_init) act_on(health_.tick(now), now);
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

void ContainerRun::act_on(const Health::Verdict& verdict, Clock::time_point now) {
  if (record_.ready != is_ready()) {
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
  stop(now);
  if (verdict.grace && phase_ == Phase::kStopping) due_ = now + *verdict.grace;
}

Clock::time_point ContainerRun::next() const {
  if (phase_ == Phase::kWaiting) return due_;
  if (phase_ == Phase::kStopping) return std::min(due_, oom_kills_.next());
  if (phase_ == Phase::kRunning) return std::min(health_.next(), oom_kills_.next());
  return Clock::time_point::max();
}

void ContainerRun::add_wanted(std::vector<pollfd>& watched, Clock::time_point now) const {
  for (const pollfd& stream : output_.wanted(now))
    if (stream.fd >= 0) watched.push_back(stream);
  health_.add_wanted(watched);
  oom_kills_.add_wanted(watched);
}

void ContainerRun::give_up() {
  if (phase_ != Phase::kWaiting && phase_ != Phase::kNew) return;
  if (phase_ == Phase::kWaiting) record_.status = ContainerStatus::kExited;
  phase_ = Phase::kDone;
  due_ = Clock::time_point::max();
}

void ContainerRun::remove() {
  if (record_.is_claimed && services_.runtime.remove(record_.id)) record_.is_claimed = false;
}

}  // namespace ocirun::pods
