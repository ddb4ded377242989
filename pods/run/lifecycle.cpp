#include "pods/run/lifecycle.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ocirun::pods {
namespace {

constexpr std::chrono::seconds kBetweenKills{1};

/// What an event leads to.
enum class Act : std::uint8_t {
  kNever,   // the event does not come in this phase: nothing happens if it does
  kNone,    // the event changes nothing
  kMake,    // kMaking begins; before it kRemoving, if the container could not be removed
  kClaim,   // kClaiming begins
  kCreate,  // kCreating begins
  kRest,    // kCreated, until kGo comes; a container that has run before goes on at once
  kStart,   // kStarting begins
  kRun,     // kRunning
  kNote,    // the end of the program is kept until the job has ended
  kEnd,     // kRemoving begins; whether the container starts again is decided
  kLate,    // the program ends after its removal has begun: the end is recorded
  kFail,    // kRemoving begins; the failure is recorded
  kRemove,  // kRemoving begins; an end of the program that was kept is recorded
  kDrop,    // kRemoving begins; the program has not been started
  kPurge,   // the removal begins again
  kRetry,   // the removal begins later again, unless the container is not started again
  kSettle,  // kWaiting or kDone, as decided
  kSignal,  // kStopping: the stop signal is sent, and the grace period begins; kEnd decides
  kAsk,     // kStopping: the stop signal is sent, and the grace period goes on
  kSwap,    // as kSignal, and the container will start again whatever the restart rule is
  kAgain,   // the program was asked to end before: the container will start again
  kAtOnce,  // the container will start again as soon as it is removed
  kKill,    // kStopping: SIGKILL is sent
  kCancel,  // kCancelling: the job may end within the grace period
  kAbort,   // kCancelling: the job is killed
  kHalt,    // kHalting: the job may end within the grace period
  kBreak,   // kHalting: the job is killed
  kHurry,   // the grace period ends earlier
  kForget,  // the container will not start again; a removal that waits begins at once
  kCut,     // the same, and the removal is killed
  kGiveUp,  // kDone
};

using Row = std::array<Act, kEvents>;

constexpr std::array<Row, kPhases> make_table() {
  using enum Act;
  // clang-format off
  return {{
//               kGo     kDone    kFailed  kEnded  kUnhealthy kRestart kStop    kKill    kDue
/*kNew*/       { kClaim, kNever,  kNever,  kNever, kNever,    kNone,   kGiveUp, kGiveUp, kNever },
/*kMaking*/    { kNever, kClaim,  kFail,   kNever, kNever,    kNone,   kCancel, kAbort,  kNever },
/*kClaiming*/  { kNever, kCreate, kFail,   kNever, kNever,    kNone,   kCancel, kAbort,  kNever },
/*kCreating*/  { kNever, kRest,   kFail,   kNever, kNever,    kNone,   kCancel, kAbort,  kNever },
/*kCreated*/   { kStart, kNever,  kNever,  kFail,  kNever,    kNone,   kDrop,   kDrop,   kNever },
/*kStarting*/  { kNever, kRun,    kFail,   kNote,  kNever,    kNone,   kHalt,   kBreak,  kNever },
/*kCancelling*/{ kNever, kDrop,   kDrop,   kNever, kNever,    kNone,   kHurry,  kAbort,  kAbort },
/*kHalting*/   { kNever, kAsk,    kRemove, kNote,  kNever,    kNone,   kHurry,  kBreak,  kBreak },
/*kRunning*/   { kNever, kNever,  kNever,  kEnd,   kSignal,   kSwap,   kSignal, kKill,   kNever },
/*kStopping*/  { kNever, kNever,  kNever,  kEnd,   kNever,    kAgain,  kHurry,  kKill,   kKill  },
/*kRemoving*/  { kNever, kSettle, kRetry,  kLate,  kNever,    kAtOnce, kForget, kCut,    kPurge },
/*kWaiting*/   { kNever, kNever,  kNever,  kNever, kNever,    kMake,   kGiveUp, kGiveUp, kMake  },
/*kDone*/      { kNever, kNever,  kNever,  kLate,  kNever,    kMake,   kNone,   kNone,   kNever },
  }};
  // clang-format on
}

constexpr std::array<Row, kPhases> kTable = make_table();

}  // namespace

void Lifecycle::handle(Event event, Clock::time_point now, Clock::duration grace) {
  if (event == Event::kRestart && !is_wanted_) return;
  if (event == Event::kStop || event == Event::kKill) is_wanted_ = false;
  switch (kTable[static_cast<std::size_t>(phase_)][static_cast<std::size_t>(event)]) {
    case Act::kNever:
    case Act::kNone:
      return;
    case Act::kMake:
      if (has_leftover_) {
        phase_ = Phase::kRemoving;
        decide(true, now);
        return begin(Job::kRemove, now);
      }
      phase_ = Phase::kMaking;
      return begin(Job::kMake, now);
    case Act::kClaim:
      phase_ = Phase::kClaiming;
      return begin(Job::kClaim, now);
    case Act::kCreate:
      phase_ = Phase::kCreating;
      return begin(Job::kCreate, now);
    case Act::kRest:
      phase_ = Phase::kCreated;
      is_killed_ = must_restart_ = has_ended_early_ = false;
      return has_run_ ? handle(Event::kGo, now) : void();
    case Act::kStart:
      phase_ = Phase::kStarting;
      return begin(Job::kStart, now);
    case Act::kRun:
      phase_ = Phase::kRunning;
      started_ = now;
      has_run_ = true;
      work_.record_start(now);
      return std::exchange(has_ended_early_, false) ? handle(Event::kEnded, now) : void();
    case Act::kNote:
      has_ended_early_ = true;
      return;
    case Act::kEnd:
      phase_ = Phase::kRemoving;
      work_.record_end(now);
      if (must_restart_)
        decide(true, now);
      else if (is_wanted_ && work_.wants_restart())
        decide(true, now + backoff_.after_run_of(now - started_));
      else
        decide(false, now);
      return begin(Job::kRemove, now);
    case Act::kLate:
      return work_.record_end(now);
    case Act::kFail:
      phase_ = Phase::kRemoving;
      must_restart_ = false;
      work_.record_failure(!has_run_);
      if (has_run_)
        decide(true, now + backoff_.after_run_of({}));
      else
        decide(false, now);
      return begin(Job::kRemove, now);
    case Act::kRemove:
      phase_ = Phase::kRemoving;
      if (std::exchange(has_ended_early_, false)) work_.record_end(now);
      decide(false, now);
      return begin(Job::kRemove, now);
    case Act::kDrop:
      phase_ = Phase::kRemoving;
      work_.record_no_start();
      decide(false, now);
      return begin(Job::kRemove, now);
    case Act::kPurge:
      remove_again_ = Clock::time_point::max();
      return begin(Job::kRemove, now);
    case Act::kRetry:
      has_leftover_ = true;
      work_.record_leftover();
      if (again_)
        remove_again_ = now + removals_.after_run_of({});
      else
        phase_ = Phase::kDone;
      return;
    case Act::kSettle:
      has_leftover_ = false;
      removals_ = {};
      phase_ = again_ ? Phase::kWaiting : Phase::kDone;
      return;
    case Act::kSwap:
      must_restart_ = true;
      [[fallthrough]];
    case Act::kSignal:
      phase_ = Phase::kStopping;
      due_ = now + grace;
      return work_.send_stop_signal();
    case Act::kAsk:
      phase_ = Phase::kStopping;
      started_ = now;
      work_.record_start(now);
      if (std::exchange(has_ended_early_, false)) return handle(Event::kEnded, now);
      return work_.send_stop_signal();
    case Act::kAgain:
      must_restart_ = true;
      return;
    case Act::kAtOnce:
      must_restart_ = true;
      return decide(true, now);
    case Act::kKill:
      phase_ = Phase::kStopping;
      due_ = now + kBetweenKills;
      return work_.send_sigkill(event == Event::kDue && !std::exchange(is_killed_, true));
    case Act::kCancel:
      phase_ = Phase::kCancelling;
      due_ = now + grace;
      return;
    case Act::kAbort:
      phase_ = Phase::kCancelling;
      return abandon(now);
    case Act::kHalt:
      phase_ = Phase::kHalting;
      due_ = now + grace;
      return;
    case Act::kBreak:
      phase_ = Phase::kHalting;
      return abandon(now);
    case Act::kHurry:
      due_ = std::min(due_, now + grace);
      return;
    case Act::kForget:
    case Act::kCut:
      decide(false, now);
      if (remove_again_ != Clock::time_point::max()) return handle(Event::kDue, now);
      return event == Event::kKill ? work_.abandon() : void();
    case Act::kGiveUp:
      if (phase_ == Phase::kWaiting) work_.record_outlook(std::nullopt);
      phase_ = Phase::kDone;
      return;
  }
}

void Lifecycle::begin(Job job, Clock::time_point now) {
  const auto begun = work_.begin(job);
  if (!begun) return handle(Event::kFailed, now);
  if (!*begun) handle(Event::kDone, now);
}

/// Decides whether and when the container starts again after it is removed.
void Lifecycle::decide(bool again, Clock::time_point due) {
  again_ = again && is_wanted_;
  due_ = due;
  work_.record_outlook(again_ ? std::optional(due) : std::nullopt);
}

/// Kills what works on the job, until the job ends.
void Lifecycle::abandon(Clock::time_point now) {
  due_ = now + kBetweenKills;
  work_.abandon();
}

void Lifecycle::adopt_running(Clock::time_point now) {
  phase_ = Phase::kRunning;
  started_ = now;
  has_run_ = true;
}

void Lifecycle::adopt_done() {
  phase_ = Phase::kDone;
  has_run_ = true;
}

void Lifecycle::adopt_waiting(Clock::time_point now) {
  phase_ = Phase::kRemoving;
  has_run_ = true;
  decide(true, now);
  begin(Job::kRemove, now);
}

Lifecycle::Clock::time_point Lifecycle::due() const {
  switch (phase_) {
    case Phase::kCancelling:
    case Phase::kHalting:
    case Phase::kStopping:
    case Phase::kWaiting:
      return due_;
    case Phase::kRemoving:
      return remove_again_;
    default:
      return Clock::time_point::max();
  }
}

}  // namespace ocirun::pods
