#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {

/// Identifies a process even if its pid is reused later: pid and start time (clock ticks since
/// boot).
struct ProcessIdentity {
  int pid = 0;
  unsigned long long start_time = 0;
  friend bool operator==(const ProcessIdentity&, const ProcessIdentity&) = default;
};

/// The process that has the pid now. Errors: those of read_process_stat().
Result<ProcessIdentity> identify_process(int pid);

/// Whether the process still runs: the pid exists, has that start time, and at least one thread is
/// not a zombie. Errors: the process's state cannot be read: EMFILE, ENFILE, ENOMEM; a /proc that
/// hides the process.
Result<bool> find_alive(const ProcessIdentity& process);
/// What /proc/PID/stat says of the process; nothing if the process has ended. Errors: those of
/// find_alive().
Result<std::optional<ProcessStat>> stat_of_living(const ProcessIdentity& process);
/// Like find_alive(), but returns true if the process's state cannot be read, so that no caller
/// gives up or removes anything by mistake.
bool is_alive(const ProcessIdentity& process);
/// Whether the process has ended, or its first thread is exiting: then it has no descriptors and no
/// namespaces any more.
bool is_ending(const ProcessIdentity& process);

/// Whether the process runs as `uid`, or in a user namespace that `uid` created.
bool belongs_to(int pid, std::uint32_t uid);

/// Reads /proc/sys/kernel/random/boot_id. If the id has changed since a process was recorded, that
/// process is gone.
Result<std::string> read_boot_id();

/// Opens a pidfd and then compares the start time, so that the descriptor cannot be of another
/// process.
/// Errors: ESRCH ("no such process"); ENOSYS on kernels before 5.3, and where a seccomp filter
/// outside of ocirun refuses the call.
Result<UniqueFd> open_pidfd(const ProcessIdentity& process);

/// The status, as waitpid(2) gives it, of a process that has ended and need not be a child of the
/// caller. Waits at most a second until the parent has asked for the status. Nothing: the parent
/// has not asked, or the kernel does not tell (before Linux 6.15).
std::optional<int> status_after_end(Fd pidfd);

/// Waits for the end of a process by its pidfd. Where there are no pidfds (before Linux 5.3, or a
/// seccomp filter refuses them), polls.
class ProcessEnd {
 public:
  /// Errors: ESRCH: the process has ended already; ENFILE, EMFILE, ENOMEM.
  static Result<ProcessEnd> watch(const ProcessIdentity& process);

  /// The descriptor and the events to poll. After poll_limit() at the latest, has_come() has to be
  /// called.
  pollfd wanted() const { return {pidfd_.get(), POLLIN, 0}; }
  std::chrono::milliseconds poll_limit() const {
    return std::chrono::milliseconds(pidfd_ ? 3'600'000 : 100);
  }
  bool has_come() const { return comes_within(std::chrono::milliseconds(0)); }
  /// Waits at most `limit` for the end; false if the process still runs then.
  bool comes_within(std::chrono::milliseconds limit) const;
  /// The status of the process after its end; see status_after_end().
  std::optional<int> status() const { return status_after_end(pidfd_); }

 private:
  ProcessEnd(const ProcessIdentity& process, UniqueFd pidfd)
      : process_(process), pidfd_(std::move(pidfd)) {}
  ProcessIdentity process_;
  UniqueFd pidfd_;  // empty where there are no pidfds
};

/// Waits at most `patience` for the end of the process; false if it still runs then. Errors:
/// ENFILE, EMFILE, ENOMEM.
Result<bool> ends_within(const ProcessIdentity& process, std::chrono::milliseconds patience);

/// Signals exactly this process: opens a pidfd, compares the start time, then pidfd_send_signal.
/// Without one of these calls: kill(2) right after the comparison. Errors: ESRCH, EPERM, EINVAL.
Result<void> send_signal(const ProcessIdentity& process, int signal);
/// Like send_signal(), with a number that the receiver finds beside the signal, as sigqueue(3)
/// sends it.
Result<void> queue_signal(const ProcessIdentity& process, int signal, int number);

/// A copy of descriptor `number` of the process behind `pidfd` (pidfd_getfd(2), Linux 5.6).
Result<UniqueFd> copy_descriptor(Fd pidfd, int number);

/// Opens pidfds of all `pids`, then calls `list`, and signals those of `pids` that `list` returns,
/// so that no process with a reused pid gets the signal. Before Linux 5.3 compares
/// start times instead. Errors: EPERM; those of identify_process().
Result<void> signal_listed(std::span<const int> pids, int signal,
                           const std::function<Result<std::vector<int>>()>& list);

}  // namespace ocirun::linux
