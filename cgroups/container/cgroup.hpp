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

struct Stats;  // cgroups/statistics/stats.hpp

/// Called when the kernel refuses the device rules because the caller is not root of the host
/// (EPERM, EACCES). If it succeeds, the cgroup goes on without device rules; if it fails, the
/// operation fails with its error.
using OnRefusedDevices = std::function<Result<void>(const Error&)>;

/// Receives a sentence about a limit that this kernel no longer has (R-14: memory.kernel and
/// kernelTCP on v1). The sentence begins with the limit's JSON pointer. Called once for each such
/// limit.
using OnDroppedLimit = std::function<void(const std::string& sentence)>;

/// The cgroup of one container in every hierarchy of the host: v1 for the controllers that are
/// mounted there, the unified hierarchy for those that are found in it (hybrid hosts mix both).
class Cgroup {
 public:
  virtual ~Cgroup() = default;

  /// Without `answer`, refused device rules are an error of create() and restrict_devices().
  void on_refused_devices(OnRefusedDevices answer) { refused_devices_ = std::move(answer); }
  /// Without a listener, apply() and update() say nothing of limits that this kernel no longer has.
  virtual void on_dropped_limit(OnDroppedLimit listener) = 0;

 protected:
  OnRefusedDevices refused_devices_;

 public:
  /// Makes the directories so that a process can join them: cpuset inherited (v1), controllers
  /// enabled (pure v2), only `devices` and the default devices allowed (L-27, R-10; an empty list
  /// allows the default devices alone). The device rules are set here because on v1 there is a
  /// moment in which no device is allowed: no process may be in the cgroup then. An existing empty
  /// cgroup that bears a container's mark (record.hpp) is removed and made anew, so that no limit
  /// of the old container remains; one without a mark is used as it is, and destroy() removes it as
  /// well. Errors: the cgroup holds processes or is frozen (R-5): "container's cgroup is not
  /// empty", "container's cgroup unexpectedly frozen". On error, everything that create() made is
  /// removed.
  virtual Result<void> create(std::span<const DeviceRule> devices) = 0;
  /// Checks only whether create() would find a cgroup that is in use, and makes nothing. Errors:
  /// those of create() for such a cgroup.
  virtual Result<void> check_free() const = 0;
  /// Descriptors through which a process joins the cgroup. v1: the `tasks` file of each hierarchy,
  /// into which the joining process, which has a single thread, writes "0" (this needs no RCU
  /// wait). v2: the directory, for CLONE_INTO_CGROUP.
  struct JoinHandles {
    std::vector<UniqueFd> tasks;
    UniqueFd unified_directory;  // empty where the unified hierarchy is not mounted or systemd has
                                 // to move the process
  };
  virtual Result<JoinHandles> open_for_join() const = 0;
  /// Opens an existing cgroup below this one (`exec --cgroup`). Each of `paths` is "path" (all
  /// hierarchies) or "controller[,controller]:path". Errors: "..", unknown controller.
  virtual Result<JoinHandles> open_for_join(std::span<const std::string> paths) const = 0;
  /// Called when the first process of the container, or a process of `exec`, has been cloned.
  /// Releases the process that kept a systemd scope alive while it was empty. Moves `pid` into the
  /// cgroup if open_for_join() left that to systemd.
  virtual Result<void> adopt(int /*pid*/) { return {}; }
  /// Applies `resources` except its devices, in the order that the kernel needs. Clients' updates
  /// send 0 for what they do not change: 0 leaves memory limits, CPU shares, quotas, runtimes and
  /// periods, and block I/O weights alone. Every other 0 is written (pids_limit, swappiness,
  /// burst). Errors name /linux/resources/… and the file. A controller that the host lacks is an
  /// error, unless the value means "no limit". May be called before or after the first process
  /// joins.
  virtual Result<void> apply(const Resources& resources) = 0;
  /// Like apply(), for a running container, all or nothing: on error every file has its old value.
  /// update(), restore() and change_devices() of a systemd cgroup also set the properties of its
  /// scope. Returns the writes that restore() takes to undo the update when a later step of the
  /// caller fails.
  virtual Result<Writes> update(const Resources& resources) = 0;
  virtual void restore(std::span<const Write> old_values) = 0;
  /// Sets the device rules. On v1 the cgroup must not hold processes (see create()); on v2 the
  /// rules are replaced in one step.
  virtual Result<void> restrict_devices(std::span<const DeviceRule> devices) = 0;
  /// Replaces the rules `old` of a cgroup in use. What both lists allow stays allowed all the time.
  virtual Result<void> change_devices(std::span<const DeviceRule> old,
                                      std::span<const DeviceRule> devices) = 0;
  virtual Result<void> freeze(FreezerState state) = 0;  // waits a bounded time (10 s)
  virtual Result<FreezerState> freezer_state() const = 0;
  /// Signals every process in the cgroup and below. SIGKILL is repeated until no new process
  /// appears, and frozen processes are thawed after it. Never signals the caller.
  virtual Result<void> signal_all(int signal) = 0;
  /// All pids in the cgroup and below, ascending, as the caller's pid namespace sees them.
  virtual Result<std::vector<int>> pids() const = 0;
  virtual Result<Stats> stats() const = 0;
  /// A watch for the cgroup's out-of-memory events. Errors: no memory controller.
  virtual Result<OomWatch> watch_oom() const = 0;
  /// The number of the cgroup's processes that the OOM killer has killed so far; nothing where the
  /// kernel does not count them.
  virtual std::optional<std::uint64_t> oom_kills() const = 0;
  /// Kills the remaining processes and removes the cgroup with all nested cgroups; while the kernel
  /// says EBUSY, tries again for at most 10 s. Then removes the empty parents that any container
  /// of ocirun made, and /ocirun, and disables the controllers that create(), apply() and update()
  /// enabled above them. A missing cgroup is no error. After a failed create(), destroy() does
  /// nothing, because an existing cgroup is then another container's.
  virtual Result<void> destroy() = 0;
  virtual const Record& record() const = 0;
};

}  // namespace ocirun::cgroups
