#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "pods/documents/model/container.hpp"
#include "pods/run/probes/ask.hpp"
#include "pods/run/runtime.hpp"

namespace ocirun::pods {

/// The three probes of a container while its program runs.
class Health {
 public:
  using Clock = std::chrono::steady_clock;

  /// `network`: the network namespace in which ports are asked; -1: the caller's.
  /// `pid_directory` is the path of a directory for files with the pids of exec probes.
  Health(const Container& container, const Runtime& runtime, std::string id,
         std::string pid_directory, Fd network);

  /// Must be called when the program has been started, and when it has ended.
  void begin(Clock::time_point now);
  void end();

  /// The result of tick().
  struct Verdict {
    bool must_restart = false;
    std::string reason;  // of the last failure; "" without one
    std::optional<std::chrono::seconds>
        grace;  // with must_restart: the grace period of the probe; nothing: that of the pod
  };
  /// Takes the answers that have come, abandons questions that took too long, and asks the
  /// questions that are due.
  Verdict tick(Clock::time_point now);
  /// The next time when tick() has something to do.
  Clock::time_point next() const;
  /// The next time when the output of a program that answers is to be read again.
  Clock::time_point next_output(Clock::time_point now) const;
  /// Adds the descriptors that become readable with an answer.
  void add_wanted(std::vector<pollfd>& watched, Clock::time_point now) const;
  /// Takes the answer of the process `pid`, which has ended, for the next tick(). Returns false if
  /// the process has asked no question.
  bool collect(int pid);

  /// Whether the startup probe has succeeded; without one, whether the program has been started.
  bool has_started() const;
  /// Whether the container can serve: its readiness probe has succeeded, or there is none.
  bool is_ready() const;

 private:
  struct Question {
    const char* name;  // "liveness" …
    Probe probe;
    Tally tally;
    std::optional<Asked> asked;
    std::optional<Answer> answer;
    Clock::time_point deadline;  // until which the answer must come
  };

  std::string pid_file_of(const Question& question) const;
  std::vector<std::string> command_of(const Question& question) const;
  void ask(Question& question, Clock::time_point now);
  void give_up(Question& question);

  const Runtime& runtime_;
  std::string id_, pid_directory_;
  Fd network_;
  std::optional<Question> startup_, liveness_, readiness_;
  bool has_begun_ = false;
};

}  // namespace ocirun::pods
