#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "linux/base/error.hpp"
#include "linux/programs/program.hpp"

namespace ocirun::pods {

/// A phase in the life of a container.
enum class Phase : std::uint8_t {
  kNew,         // the container has not been started yet
  kMaking,      // its root filesystem is made anew
  kClaiming,    // the runtime is asked whether the id is free
  kCreating,    // the runtime creates the container
  kCreated,     // the container exists, and its program does not run yet
  kStarting,    // the runtime starts the program
  kCancelling,  // kMaking, kClaiming or kCreating of a container that is not wanted any more
  kHalting,     // kStarting of a program that will be asked to end as soon as it runs
  kRunning,     // the program runs
  kStopping,    // the program was asked to end, or killed
  kRemoving,    // the runtime removes the container, or could not and will be asked again
  kWaiting,     // the container will be started again
  kDone,        // the container will not be started again
};
inline constexpr std::size_t kPhases = 13;

/// What happens to a container.
enum class Event : std::uint8_t {
  kGo,         // the container may start
  kDone,       // the job of the phase has ended well
  kFailed,     // the job of the phase has failed
  kEnded,      // the program has ended
  kUnhealthy,  // a probe has failed for good
  kRestart,    // somebody wants the program to be started again
  kStop,       // the pod stops
  kKill,       // the pod stops without a grace period
  kDue,        // the time of Lifecycle::due() has come
};
inline constexpr std::size_t kEvents = 9;

/// A step that takes time. The end of the step comes as Event::kDone or Event::kFailed.
enum class Job : std::uint8_t { kMake, kClaim, kCreate, kStart, kRemove };

/// What a Lifecycle does to its container. No function waits.
class ContainerWork {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~ContainerWork() = default;
  /// Begins a job. Returns false if there is nothing to do: the job has ended well.
  virtual Result<bool> begin(Job job) = 0;
  /// Kills what works on the job, which fails thereby.
  virtual void abandon() = 0;
  virtual void send_stop_signal() = 0;
  /// `is_late`: the grace period is over.
  virtual void send_sigkill(bool is_late) = 0;
  virtual void record_start(Clock::time_point now) = 0;
  virtual void record_end(Clock::time_point now) = 0;
  /// Records why a job has failed. `is_first`: the container has never run.
  virtual void record_failure(bool is_first) = 0;
  /// Records that the program is not started, because the pod stops.
  virtual void record_no_start() = 0;
  /// Records that the container could not be removed, and is still there.
  virtual void record_leftover() = 0;
  /// Records when the container will be started again; nullopt: never.
  virtual void record_outlook(std::optional<Clock::time_point> next) = 0;
  /// Whether the restart rule of the pod applies to the end that was recorded.
  virtual bool wants_restart() const = 0;
};

/// The state machine of a container.
class Lifecycle {
 public:
  using Clock = ContainerWork::Clock;

  explicit Lifecycle(ContainerWork& work) : work_(work) {}

  /// `grace`: how long the program gets after its stop signal, for kUnhealthy, kRestart and kStop.
  void handle(Event event, Clock::time_point now, Clock::duration grace = {});

  /// Goes on with a container whose supervisor was killed, and whose program runs.
  void adopt_running(Clock::time_point now);
  /// Goes on with a container whose supervisor was killed, and that is to be removed and started
  /// again.
  void adopt_waiting(Clock::time_point now);
  /// Goes on with a container whose supervisor was killed, and that has ended for good.
  void adopt_done();

  Phase phase() const { return phase_; }
  /// Whether kRestart has come, and the container has not been created again since.
  bool must_restart() const { return must_restart_; }
  /// When Event::kDue is to come; Clock::time_point::max(): never.
  Clock::time_point due() const;

 private:
  void begin(Job job, Clock::time_point now);
  void decide(bool again, Clock::time_point due);
  void abandon(Clock::time_point now);

  ContainerWork& work_;
  Phase phase_ = Phase::kNew;
  Clock::time_point started_, due_ = Clock::time_point::max();
  Clock::time_point remove_again_ = Clock::time_point::max();  // in kRemoving, after a failure
  linux::Backoff backoff_, removals_;
  bool is_wanted_ = true;         // the pod does not stop
  bool has_run_ = false;          // the program has run: after a failed job it is tried again
  bool must_restart_ = false;     // the container starts again, whatever the restart rule is
  bool again_ = false;            // the container will be started again when it is removed
  bool has_ended_early_ = false;  // the program has ended, and the job that starts it has not
  bool is_killed_ = false;
  bool has_leftover_ = false;  // the container could not be removed
};

}  // namespace ocirun::pods
