#pragma once

#include <poll.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "pods/model/container.hpp"
#include "pods/probes/ask.hpp"
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

  /// The program has been started, or has ended.
  void begin(Clock::time_point now);
  void end();

  /// What tick() has found out.
  struct Verdict {
    bool must_restart = false;
    std::string reason;  // of the last failure; "" without one
    std::optional<std::chrono::seconds>
        grace;  // with must_restart: the probe's own; else the pod's
  };
  /// Takes the answers that have come, gives up questions that took too long, and asks what is due.
  Verdict tick(Clock::time_point now);
  /// When tick() has something to do next.
  Clock::time_point next() const;
  /// Adds the descriptors that tell of an answer.
  void add_wanted(std::vector<pollfd>& watched) const;
  /// Whether the process `pid`, which has ended, has asked a question. Takes its answer then, for
  /// the next tick().
  bool collect(int pid);

  /// Whether the program has come so far as its startup probe wants; without one: has been started.
  bool has_started() const;
  /// Whether the container can serve: its readiness probe says so, or it has none.
  bool is_ready() const;

 private:
  struct Question {
    const char* name;  // "liveness" …
    Probe probe;
    Tally tally;
    std::optional<Asked> asked;
    std::optional<Answer> answer;
    Clock::time_point deadline;  // of the answer
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
