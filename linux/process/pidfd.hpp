#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// A process told from any later one with its number: pid and start time (clock ticks since boot).
struct ProcessIdentity {
  int pid = 0;
  unsigned long long start_time = 0;
};

/// Whether it still runs: there, with that start time, and some thread of it no zombie.
/// Errors: what keeps us from knowing. EMFILE, ENFILE, ENOMEM; a /proc that hides it.
Result<bool> find_alive(const ProcessIdentity& process);
/// The same; what cannot be known is taken for alive: nothing is given up or removed for that.
bool is_alive(const ProcessIdentity& process);
/// Whether it has ended or its first thread is about to: no descriptors, no namespaces any more.
bool is_ending(const ProcessIdentity& process);

/// Whether the process runs as `uid` or in a user namespace that `uid` made.
bool belongs_to(int pid, std::uint32_t uid);

/// /proc/sys/kernel/random/boot_id: another one means that every remembered process is gone.
Result<std::string> read_boot_id();

/// Opens a pidfd and only then compares the start time, so the fd is of that process or an error.
/// Errors: ESRCH ("no such process"); ENOSYS on kernels before 5.3.
Result<UniqueFd> open_pidfd(const ProcessIdentity& process);

/// The end of a process, as its pidfd tells it; before Linux 5.3 one has to look.
class ProcessEnd {
 public:
  /// Errors: ESRCH: it has come; ENFILE, EMFILE, ENOMEM.
  static Result<ProcessEnd> watch(const ProcessIdentity& process);

  /// What to poll for, and how long at most before has_come() is asked again.
  pollfd wanted() const { return {pidfd_.get(), POLLIN, 0}; }
  std::chrono::milliseconds poll_limit() const {
    return std::chrono::milliseconds(pidfd_ ? 3'600'000 : 100);
  }
  bool has_come() const { return comes_within(std::chrono::milliseconds(0)); }
  /// Waits for it.
  bool comes_within(std::chrono::milliseconds limit) const;

 private:
  ProcessEnd(const ProcessIdentity& process, UniqueFd pidfd)
      : process_(process), pidfd_(std::move(pidfd)) {}
  ProcessIdentity process_;
  UniqueFd pidfd_;  // empty before Linux 5.3
};

/// Signals exactly that process: pidfd, start time, pidfd_send_signal; kill(2) after the check
/// where the kernel has no pidfds. Errors: ESRCH, EPERM, EINVAL.
Result<void> send_signal(const ProcessIdentity& process, int signal);

/// A copy of descriptor `number` of the process behind `pidfd` (pidfd_getfd(2), Linux 5.6).
Result<UniqueFd> copy_descriptor(Fd pidfd, int number);

/// Signals those of `pids` that `list`, asked again once they are held by pidfds, still tells: who
/// got the number of one that died meanwhile gets no signal. Before Linux 5.3, or without
/// descriptors to spare, by number. Errors: EPERM.
Result<void> signal_listed(std::span<const int> pids, int signal,
                           const std::function<Result<std::vector<int>>()>& list);

}  // namespace ocirun::linux
