#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "linux/process/clone.hpp"
#include "linux/process/pidfd.hpp"
#include "pods/prepare/program.hpp"
#include "pods/surroundings/ports.hpp"

namespace ocirun::pods {

/// pasta, which connects the network of a pod with the host's: the pod reaches what the host
/// reaches, and the host's ports lead to the pod's.
class Forwarder {
 public:
  using Clock = std::chrono::steady_clock;
  using Recorder = std::function<Result<void>(const linux::ProcessIdentity&)>;

  /// `pasta`: the path of the program. `pin`: the path of a file, on which the pod's network
  /// namespace is mounted; files beside it have its name and an ending. `record` is called before
  /// pasta runs, which outlives its parent.
  Forwarder(std::string pasta, std::vector<Forward> forwards, std::string pin, Recorder record);

  /// Connects the network namespace of the process `holder`, and waits until that is done. Errors:
  /// a port of the host is in use …; pasta's own words.
  Result<void> start(const linux::ProcessIdentity& holder);

  bool is_connected() const { return phase_ == Phase::kConnected; }
  /// Called when pasta has ended with this status of waitpid(2): it is started again after a wait.
  /// Returns why it has ended.
  std::string ended(int status, Clock::time_point now);
  /// When go_on() has something to do.
  Clock::time_point next() const { return due_; }
  /// Starts pasta again when that is due, and looks whether it has connected the pod: true at the
  /// moment when it has. After an error it is tried again later.
  Result<bool> go_on(Clock::time_point now);

 private:
  enum class Phase : std::uint8_t { kWaiting, kStarting, kConnected };

  Result<linux::Child> launch();
  std::string last_words(int status) const;

  std::string pasta_;
  std::vector<Forward> forwards_;
  std::string pin_, pid_file_, said_;
  Recorder record_;
  Backoff backoff_;
  int pid_ = 0;  // while it starts
  Phase phase_ = Phase::kWaiting;
  Clock::time_point started_, due_ = Clock::time_point::max();
};

}  // namespace ocirun::pods
