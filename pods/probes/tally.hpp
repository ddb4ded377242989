#pragma once

#include <chrono>
#include <cstdint>

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

}  // namespace ocirun::pods
