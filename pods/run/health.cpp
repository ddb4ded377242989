#include "pods/run/health.hpp"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <variant>

#include "linux/base/syscalls.hpp"
#include "linux/programs/program.hpp"

namespace ocirun::pods {

Health::Health(const Container& container, const Runtime& runtime, std::string id,
               std::string pid_directory, Fd network)
    : runtime_(runtime),
      id_(std::move(id)),
      pid_directory_(std::move(pid_directory)),
      network_(network) {
  const auto make = [](const char* name, const std::optional<Probe>& probe,
                       bool is_good) -> std::optional<Question> {
    if (!probe) return std::nullopt;
    return Question{.name = name,
                    .probe = *probe,
                    .tally = Tally(*probe, is_good),
                    .asked = {},
                    .answer = {},
                    .deadline = {}};
  };
  startup_ = make("startup", container.startup, false);
  liveness_ = make("liveness", container.liveness, true);
  readiness_ = make("readiness", container.readiness, false);
}

void Health::begin(Clock::time_point now) {
  has_begun_ = true;
  if (startup_) startup_->tally.begin(now, false);
  if (liveness_) liveness_->tally.begin(now, true);
  if (readiness_) readiness_->tally.begin(now, false);
}

void Health::end() {
  has_begun_ = false;
  for (auto* question : {&startup_, &liveness_, &readiness_})
    if (*question) {
      if ((*question)->asked) give_up(**question);
      (*question)->answer.reset();
    }
}

/// Abandons a question. Kills the program of an exec probe, which must not stay in the container.
void Health::give_up(Question& question) {
  if (std::holds_alternative<ExecProbe>(question.probe.question)) {
    const auto pid = linux::read_pid_file(pid_file_of(question));
    // The program is a child of the runtime, which still runs: the pid is not another process's.
    // Its children go with it, if the runtime has made it the leader of a group.
    if (pid && ::kill(-*pid, SIGKILL) != 0) ::kill(*pid, SIGKILL);
  }
  abandon(*question.asked);
  question.asked.reset();
}

std::string Health::pid_file_of(const Question& question) const {
  return fmt::format("{}/{}.pid", pid_directory_, question.name);
}

std::vector<std::string> Health::command_of(const Question& question) const {
  const auto* exec = std::get_if<ExecProbe>(&question.probe.question);
  return exec == nullptr ? std::vector<std::string>()
                         : runtime_.exec_command(id_, pid_file_of(question), exec->command);
}

void Health::ask(Question& question, Clock::time_point now) {
  question.tally.asked(now);
  if (std::holds_alternative<ExecProbe>(question.probe.question))
    ignore(linux::sys::unlinkat(Fd{AT_FDCWD}, pid_file_of(question).c_str(), 0));
  auto asked = pods::ask(question.probe, network_, command_of(question));
  if (!asked) {
    question.answer = Answer{.is_success = false, .reason = asked.error().message()};
    return;
  }
  question.asked = *std::move(asked);
  question.deadline = now + question.probe.timeout;
}

Health::Verdict Health::tick(Clock::time_point now) {
  Verdict verdict;
  if (!has_begun_) return verdict;
  const auto work = [&](std::optional<Question>& question) {
    if (!question) return;
    if (question->asked) hear(*question->asked);
    if (question->asked && now >= question->deadline) {
      give_up(*question);
      question->answer =
          Answer{.is_success = false,
                 .reason = fmt::format("no answer within {} s", question->probe.timeout.count())};
    }
    if (question->answer) {
      question->tally.count(question->answer->is_success);
      if (!question->answer->is_success)
        verdict.reason = fmt::format("{} probe: {}", question->name, question->answer->reason);
      question->answer.reset();
    }
    if (!question->asked && now >= question->tally.next()) ask(*question, now);
  };
  // The other probes wait until the startup probe has succeeded once. It is not asked again
  // afterwards.
  if (startup_ && !startup_->tally.is_good()) {
    work(startup_);
    verdict.must_restart = startup_->tally.has_failed();
    verdict.grace = startup_->probe.grace;
    if (!startup_->tally.is_good()) return verdict;
    if (liveness_) liveness_->tally.begin(now, true);
    if (readiness_) readiness_->tally.begin(now, false);
  }
  work(readiness_);
  work(liveness_);
  verdict.must_restart = liveness_ && !liveness_->tally.is_good();
  if (liveness_) verdict.grace = liveness_->probe.grace;
  return verdict;
}

Health::Clock::time_point Health::next() const {
  Clock::time_point next = Clock::time_point::max();
  if (!has_begun_) return next;
  const auto look = [&](const std::optional<Question>& question) {
    if (!question) return;
    if (question->answer) next = Clock::time_point();  // at once
    next = std::min(next, question->asked ? question->deadline : question->tally.next());
  };
  if (startup_ && !startup_->tally.is_good()) {
    look(startup_);
    return next;
  }
  look(liveness_);
  look(readiness_);
  return next;
}

Health::Clock::time_point Health::next_output(Clock::time_point now) const {
  Clock::time_point next = Clock::time_point::max();
  for (const auto* question : {&startup_, &liveness_, &readiness_})
    if (*question && (*question)->asked && (*question)->asked->pace.rests(now))
      next = std::min(next, (*question)->asked->pace.rests_until());
  return next;
}

void Health::add_wanted(std::vector<pollfd>& watched, Clock::time_point now) const {
  for (const auto* question : {&startup_, &liveness_, &readiness_}) {
    if (!*question || !(*question)->asked) continue;
    const Asked& asked = *(*question)->asked;
    watched.push_back({asked.child.pidfd.get(), POLLIN, 0});
    if (!asked.pace.rests(now)) watched.push_back({asked.output.get(), POLLIN, 0});
  }
}

bool Health::collect(int pid) {
  for (auto* question : {&startup_, &liveness_, &readiness_}) {
    if (!*question || !(*question)->asked || (*question)->asked->child.pid != pid) continue;
    (*question)->answer = take_answer(*(*question)->asked);
    (*question)->asked.reset();
    return true;
  }
  return false;
}

bool Health::has_started() const { return has_begun_ && (!startup_ || startup_->tally.is_good()); }

bool Health::is_ready() const {
  if (!has_started()) return false;
  return !readiness_ || readiness_->tally.is_good();
}

}  // namespace ocirun::pods
