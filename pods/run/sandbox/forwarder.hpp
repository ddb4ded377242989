#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linux/network/tap_gate.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/pidfd.hpp"
#include "linux/programs/program.hpp"
#include "pods/prepare/plan/ports.hpp"

namespace ocirun::pods {

/// The program pasta, which connects the network of a pod with the host's. The pod reaches what the
/// host reaches, and ports of the host lead to ports of the pod.
///
/// pasta sends the pod's frames on from the host's network namespace, where 127.0.0.1 is the host.
/// So pasta only gets the frames that linux::frame_filter() passes.
class Forwarder {
 public:
  using Clock = std::chrono::steady_clock;
  using Recorder = std::function<Result<void>(const linux::ProcessIdentity&)>;

  /// `pasta` is the path of the program. Without `is_filtered` it gets all frames. `pin` is the
  /// path of a file on which the pod's network namespace is mounted; files beside it have the same
  /// name and an ending. pasta outlives its parent: `record` is called before pasta runs.
  Forwarder(std::string pasta, bool is_filtered, std::vector<Forward> forwards, std::string pin,
            Recorder record);

  /// Connects the network namespace of the process `holder`, and waits until it is connected.
  /// Errors: what pasta has written, such as that a port of the host is in use; its frames cannot
  /// be filtered.
  Result<void> start(const linux::ProcessIdentity& holder);

  /// Goes on with the pasta of a supervisor that was killed. If pasta has ended since, or had not
  /// connected the pod yet, go_on() starts another one.
  void resume(const linux::ProcessIdentity& pasta);

  bool is_connected() const { return phase_ == Phase::kConnected; }
  /// Must be called when pasta has ended, with the status of waitpid(2) if it is known. pasta is
  /// started again after a pause. Returns why it has ended.
  std::string ended(std::optional<int> status, Clock::time_point now);
  /// The next time when go_on() has something to do.
  Clock::time_point next() const { return due_; }
  /// What comes next while pasta connects the pod.
  enum class Step : std::uint8_t { kWait, kOpenGate, kDone };
  /// Starts pasta again when that is due, and looks how far it is. Waits for nothing. Returns kDone
  /// once, when pasta has connected the pod. kOpenGate: open_gate() has to be called in a child
  /// process, and gate_opened() with its outcome. After an error, tries again later.
  Result<Step> go_on(Clock::time_point now);
  /// Lets the pod's frames reach pasta, which has set up the device. Moves the calling process to
  /// the network of the pod.
  Result<void> open_gate() const;
  /// `pasta`: the result of pid() when open_gate() was called. Errors: that of `outcome`.
  Result<void> gate_opened(int pasta, const Result<void>& outcome, Clock::time_point now);
  /// The pid of pasta, while it starts.
  int pid() const { return pid_; }

 private:
  enum class Phase : std::uint8_t { kWaiting, kStarting, kConnected };

  Result<linux::Child> launch();
  Result<Step> next_step();
  std::unexpected<Error> give_up(Error error);
  std::string last_words(std::optional<int> status) const;

  std::string pasta_;
  bool is_filtered_;
  std::vector<Forward> forwards_;
  std::string pin_, pid_file_, said_;
  std::string connected_;                     // the path of pid_file_, once the pod is connected
  std::optional<linux::MessageSocket> door_;  // on it, the process that becomes pasta sends gate_
  std::optional<linux::TapGate> gate_;        // while pasta starts
  bool has_no_gate_ = false;                  // the process has failed before it sent gate_
  Recorder record_;
  linux::Backoff backoff_;
  int pid_ = 0;  // of pasta, while it starts
  Phase phase_ = Phase::kWaiting;
  Clock::time_point started_, due_ = Clock::time_point::max();
};

}  // namespace ocirun::pods
