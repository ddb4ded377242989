#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "linux/process/clone.hpp"
#include "pods/model/container.hpp"

namespace ocirun::pods {

/// The answers of one probe, counted by the rules that Kubernetes has for them.
class Tally {
 public:
  using Clock = std::chrono::steady_clock;

  /// `is_good`: what holds until the first answers have come: a container is alive, but not ready.
  Tally(const Probe& probe, bool is_good) : probe_(probe), is_good_(is_good) {}

  /// The program has started: the first question is due after the initial delay.
  void begin(Clock::time_point now, bool is_good) {
    is_good_ = is_good;
    successes_ = failures_ = 0;
    next_ = now + probe_.initial_delay;
  }

  /// A question has been asked. Periods are counted from question to question.
  void asked(Clock::time_point now) { next_ = now + probe_.period; }

  /// An answer has come. Good becomes bad after failureThreshold failures in a row, and bad becomes
  /// good after successThreshold successes in a row.
  void count(bool is_success) {
    successes_ = is_success ? successes_ + 1 : 0;
    failures_ = is_success ? 0 : failures_ + 1;
    if (successes_ >= probe_.success_threshold) is_good_ = true;
    if (failures_ >= probe_.failure_threshold) is_good_ = false;
  }

  bool is_good() const { return is_good_; }
  /// Whether the last answers were so many failures in a row that the probe has failed.
  bool has_failed() const { return failures_ >= probe_.failure_threshold; }
  Clock::time_point next() const { return next_; }

 private:
  Probe probe_;
  bool is_good_;
  std::uint32_t successes_ = 0, failures_ = 0;
  Clock::time_point next_ = Clock::time_point::max();
};

/// A probe's question under way: the process that asks, and what it writes.
struct Asked {
  linux::Child child;
  UniqueFd output;
  std::string text;  // the first bytes that the process has written
};

struct Answer {
  bool is_success = false;
  std::string reason;  // of a failure
};

/// Starts to ask. HTTP and TCP are asked at the loopback addresses of the network namespace
/// `network` (-1: the caller's) by the program ocirun-probe; the question of an exec probe is the
/// program `command`, which executes the probe's command in the container. Errors: fork fails; the
/// program ocirun-probe is missing.
Result<Asked> ask(const Probe& probe, Fd network, std::span<const std::string> command);

/// Reads what the process has written, without waiting, so that it can go on writing.
void hear(Asked& asked);

/// The answer, when the process has ended. Reaps the process.
Answer take_answer(Asked& asked);

/// Kills the process that asks, and reaps it.
void abandon(Asked& asked);

}  // namespace ocirun::pods
