#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cgroups/container/oom_watch.hpp"
#include "cgroups/container/record.hpp"
#include "cgroups/plan/plan.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::cgroups {

enum class FreezerState { kThawed, kFrozen };

struct Stats;  // stats.hpp

/// Told of device rules that the kernel refuses to whoever is not the host's root (EPERM, EACCES);
/// its answer is the outcome: nothing, to do without them.
using OnRefusedDevices = std::function<Result<void>(const Error&)>;

/// Gets the sentence about a limit that this kernel has given up (R-14: memory.kernel and kernelTCP
/// on v1), which begins with the JSON pointer of the limit. Called once for each such limit.
using OnDroppedLimit = std::function<void(const std::string& sentence)>;

/// The cgroup of one container in every hierarchy of the host: v1 for the controllers that are
/// mounted there, the unified hierarchy for those that are found in it (hybrid hosts mix both).
class Cgroup {
 public:
  virtual ~Cgroup() = default;

  /// Without it such rules are an error of create() and restrict_devices().
  void on_refused_devices(OnRefusedDevices answer) { refused_devices_ = std::move(answer); }
  /// Without it apply() and update() do without such limits in silence.
  virtual void on_dropped_limit(OnDroppedLimit listener) = 0;

 protected:
  OnRefusedDevices refused_devices_;

 public:
  /// Makes the directories, fit for a process to join: cpuset inherited (v1), controllers enabled
  /// (pure v2), only `devices` and the default devices allowed (L-27, R-10; an empty list allows
  /// the default ones alone). Device rules are set here because on v1 there is a moment in which
  /// nothing is allowed: nobody may be inside. One that bears a container's mark is made anew, so
  /// that no limit of that container is left. Errors: the cgroup holds processes or is frozen
  /// "container's cgroup is not empty", "container's cgroup unexpectedly frozen". What it
  /// made is undone on error.
  virtual Result<void> create(std::span<const DeviceRule> devices) = 0;
  /// Descriptors for the process that joins: v1: each hierarchy's `tasks` (the joiner, which has a
  /// single thread, writes "0": no RCU wait); v2: the directory for CLONE_INTO_CGROUP.
  struct JoinHandles {
    std::vector<UniqueFd> tasks;
    UniqueFd unified_directory;  // empty where the unified hierarchy is not mounted
  };
  virtual Result<JoinHandles> open_for_join() const = 0;
  /// The same for a cgroup below this one (`exec --cgroup`), which has to exist. Each of `paths` is
  /// "path" (all hierarchies) or "controller[,controller]:path". Errors: "..", unknown controller.
  virtual Result<JoinHandles> open_for_join(std::span<const std::string> paths) const = 0;
  /// A process that is to live in it was cloned: what has kept the cgroup without one lets go, and
  /// a process that could not be cloned into it is moved in by who may.
  virtual Result<void> adopt(int) { return {}; }
  /// Applies what `resources` holds except its devices, in the order the kernel wants; a number 0
  /// leaves the kernel's value alone (clients' updates send it) but for pids_limit. Errors name
  /// /linux/resources/… and the file; a controller that the host lacks is one, unless the value
  /// means "no limit". May be called before or after the first process joined.
  virtual Result<void> apply(const Resources& resources) = 0;
  /// The same on a container that runs, all or nothing: an error leaves every file as it was. With
  /// systemd this (and restore(), and change_devices()) also sets the properties of its scope.
  /// Yields what restore() takes to undo it, when a later step of the caller's fails.
  virtual Result<Writes> update(const Resources& resources) = 0;
  virtual void restore(std::span<const Write> old_values) = 0;
  /// Sets the device rules of a cgroup that nobody is in (see create()).
  virtual Result<void> restrict_devices(std::span<const DeviceRule> devices) = 0;
  /// Replaces the rules `old` of a cgroup in use: what both allow is allowed all the time.
  virtual Result<void> change_devices(std::span<const DeviceRule> old,
                                      std::span<const DeviceRule> devices) = 0;
  virtual Result<void> freeze(FreezerState state) = 0;  // waits a bounded time (10 s)
  virtual Result<FreezerState> freezer_state() const = 0;
  /// Signals every process in it and below, in a loop for SIGKILL until none is new; frozen ones
  /// are thawed after SIGKILL. Never signals the caller.
  virtual Result<void> signal_all(int signal) = 0;
  /// All pids in it and below, ascending, as the caller's pid namespace sees them.
  virtual Result<std::vector<int>> pids() const = 0;
  virtual Result<Stats> stats() const = 0;
  /// What tells when the kernel runs out of the container's memory. Errors: no memory controller.
  virtual Result<OomWatch> watch_oom() const = 0;
  /// How many of its processes the kernel has killed for want of memory so far; 0 where nobody
  /// counts.
  virtual std::uint64_t oom_kills() const = 0;
  /// Removes it with all nested cgroups, killing what is left in them, retried for a bounded time
  /// (10 s) while the kernel says EBUSY; then the parents that create() made, and /ocirun, where
  /// empty. Missing is no error. After a create() that failed it does nothing: what stands there is
  /// another container's.
  virtual Result<void> destroy() = 0;
  virtual const Record& record() const = 0;
};

}  // namespace ocirun::cgroups
