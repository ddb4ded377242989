#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "linux/process/clone.hpp"
#include "linux/programs/output_pace.hpp"
#include "pods/documents/model/container.hpp"

namespace ocirun::pods {

/// Counts the answers of one probe by the rules of Kubernetes.
class Tally {
 public:
  using Clock = std::chrono::steady_clock;

  /// `is_good` is the state until the first answers have come: a container is alive, but not ready.
  Tally(const Probe& probe, bool is_good) : probe_(probe), is_good_(is_good) {}

  /// Must be called when the program has started. The first question is due after the initial
  /// delay.
  void begin(Clock::time_point now, bool is_good) {
    is_good_ = is_good;
    successes_ = failures_ = 0;
    next_ = now + probe_.initial_delay;
  }

  /// Must be called when a question has been asked. The next question is due one period later.
  void asked(Clock::time_point now) { next_ = now + probe_.period; }

  /// Counts an answer. Good becomes bad after failureThreshold failures in a row, and bad becomes
  /// good after successThreshold successes in a row.
  void count(bool is_success) {
    successes_ = is_success ? successes_ + 1 : 0;
    failures_ = is_success ? 0 : failures_ + 1;
    if (successes_ >= probe_.success_threshold) is_good_ = true;
    if (failures_ >= probe_.failure_threshold) is_good_ = false;
  }

  bool is_good() const { return is_good_; }
  /// Whether the probe has failed: the last failureThreshold answers were failures.
  bool has_failed() const { return failures_ >= probe_.failure_threshold; }
  Clock::time_point next() const { return next_; }

 private:
  Probe probe_;
  bool is_good_;
  std::uint32_t successes_ = 0, failures_ = 0;
  Clock::time_point next_ = Clock::time_point::max();
};

/// A question that a process asks now.
struct Asked {
  linux::Child child;
  UniqueFd output;
  std::string text;          // the first bytes that the process has written
  linux::OutputPace pace{};  // of the reading
};

struct Answer {
  bool is_success = false;
  std::string reason;  // of a failure
};

/// Starts a process that asks the question of a probe. For HTTP and TCP it is the program
/// ocirun-probe, which asks at the loopback addresses of the network namespace `network` (-1: the
/// caller's). For an exec probe it is `command`, which executes the probe's command in the
/// container. Errors: fork fails; ocirun-probe is not installed.
Result<Asked> ask(const Probe& probe, Fd network, std::span<const std::string> command);

/// Reads what the process has written so far, without waiting, so that its pipe does not fill up.
void hear(Asked& asked);

/// Returns the answer of a process that has ended, and reaps the process.
Answer take_answer(Asked& asked);

/// Kills the process that asks, which the caller reaps as its other children: the process may hang
/// in a filesystem that does not respond.
void abandon(const Asked& asked);

}  // namespace ocirun::pods
