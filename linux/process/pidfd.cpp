#include "linux/process/pidfd.hpp"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "linux/base/outer_filter.hpp"
#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::linux {

Result<std::optional<ProcessStat>> stat_of_living(const ProcessIdentity& process) {
  if (process.pid <= 0) return std::nullopt;
  const auto stat = read_process_stat(process.pid);
  if (stat) {
    // If the first thread ends before the others, it is a zombie while the process still runs.
    const bool has_ended = (stat->state == 'Z' || stat->state == 'X') && stat->threads <= 1;
    if (stat->start_time != process.start_time || has_ended) return std::nullopt;
    return *stat;
  }
  // ENOENT: kill(2) has confirmed that there is no such process (explain_hidden_process()).
  if (stat.error().number() == ENOENT) return std::nullopt;
  // /proc cannot be read, but kill(2) can still report that the process is gone.
  if (::kill(process.pid, 0) != 0 && errno == ESRCH) return std::nullopt;
  return std::unexpected(stat.error());
}

Result<ProcessIdentity> identify_process(int pid) {
  OCIRUN_TRY_ASSIGN(const ProcessStat stat, read_process_stat(pid));
  return ProcessIdentity{.pid = pid, .start_time = stat.start_time};
}

Result<bool> find_alive(const ProcessIdentity& process) {
  OCIRUN_TRY_ASSIGN(const auto stat, stat_of_living(process));
  return stat.has_value();
}

bool is_ending(const ProcessIdentity& process) {
  const auto stat = stat_of_living(process);
  return stat && (!*stat || (*stat)->is_exiting);
}

bool is_alive(const ProcessIdentity& process) { return find_alive(process).value_or(true); }

bool belongs_to(int pid, std::uint32_t uid) {
  const auto directory =
      sys::open(fmt::format("/proc/{}", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (!directory) return false;
  const auto status = sys::fstat(*directory);
  if (status && status->st_uid == uid) return true;
  const auto space = sys::openat(*directory, "ns/user", O_RDONLY | O_CLOEXEC);
  uid_t owner = 0;
  return space && ::ioctl(space->get(), NS_GET_OWNER_UID, &owner) == 0 && owner == uid;
}

Result<std::string> read_boot_id() {
  // Kept, because `ocirun list` asks once for each container. Each thread of `list` reads the id
  // itself. Not a std::string: the program ends if there is no memory for a thread's destructors.
  thread_local std::array<char, 64> known{};
  if (known.front() != '\0') return std::string(known.data());
  OCIRUN_TRY_ASSIGN(const UniqueFd fd,
                    sys::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  OCIRUN_TRY_ASSIGN(std::string id, sys::read_value(fd, 128));
  while (!id.empty() && id.back() == '\n') id.pop_back();
  if (id.size() < known.size()) std::ranges::copy(id, known.begin());
  return id;
}

Result<UniqueFd> open_pidfd(const ProcessIdentity& process) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0)));
  const int error = errno;  // ENOENT or EINVAL: the number is now the id of a thread
  OCIRUN_TRY_ASSIGN(const bool alive, find_alive(process));
  if (!alive) return fail(ESRCH, "process {}", process.pid);
  if (fd) return fd;
  errno = error;
  return failed_call(SYS_pidfd_open, fmt::format("open process {}", process.pid));
}

Result<ProcessEnd> ProcessEnd::watch(const ProcessIdentity& process) {
  auto pidfd = open_pidfd(process);
  if (pidfd) return ProcessEnd(process, std::move(*pidfd));
  const int error = pidfd.error().number();
  if (error == ESRCH || is_transient(error)) return std::unexpected(std::move(pidfd).error());
  return ProcessEnd(process, UniqueFd());  // before Linux 5.3, or a seccomp filter refuses pidfds
}

bool ProcessEnd::comes_within(std::chrono::milliseconds limit) const {
  if (pidfd_) {
    pollfd end = wanted();
    return ::poll(&end, 1, static_cast<int>(limit.count())) == 1;
  }
  Patience patience(limit);
  while (is_alive(process_))
    if (!patience.wait()) return false;
  return true;
}

Result<bool> ends_within(const ProcessIdentity& process, std::chrono::milliseconds patience) {
  const auto end = ProcessEnd::watch(process);
  if (end) return end->comes_within(patience);
  if (end.error().number() == ESRCH) return true;
  return std::unexpected(end.error());
}

namespace {

// <linux/pidfd.h> of Linux 6.15, which Debian 12 does not have.
struct PidfdInfo {
  std::uint64_t mask = 0;
  std::uint64_t cgroup = 0;
  std::array<std::uint32_t, 11> ids{};  // pid, tgid, ppid, and eight of users and groups
  std::int32_t exit_code = 0;
};
constexpr std::uint64_t kInfoExit = 8;
static_assert(sizeof(PidfdInfo) == 64);
constexpr unsigned long kGetInfo = _IOWR(0xFF, 11, PidfdInfo);

}  // namespace

std::optional<int> status_after_end(Fd pidfd) {
  Patience patience(std::chrono::seconds(1));
  do {
    PidfdInfo info{.mask = kInfoExit};
    const bool is_known = ::ioctl(pidfd.value, kGetInfo, &info) == 0;
    if (is_known && (info.mask & kInfoExit) != 0) return info.exit_code;
    if (!is_known && errno != ESRCH) return std::nullopt;
  } while (patience.wait());
  return std::nullopt;
}

namespace {

using ByPid = std::function<bool()>;  // as kill(2): false, and errno

/// Sends the signal by the pidfd. Without pidfd_send_signal(2), `by_pid` sends it while the pidfd
/// shows that the process has not ended, and thus still has its number.
bool send_by_pidfd(Fd pidfd, int signal, siginfo_t* info, const ByPid& by_pid) {
  if (::syscall(SYS_pidfd_send_signal, pidfd.value, signal, info, 0) == 0) return true;
  const bool is_absent = errno == ENOSYS || (errno == EPERM && is_filtered(SYS_pidfd_send_signal));
  if (!is_absent) return false;
  pollfd end{pidfd.value, POLLIN, 0};
  if (::poll(&end, 1, 0) == 0) return by_pid();
  errno = ESRCH;
  return false;
}

/// `by_pid` sends the signal on a kernel without pidfds.
Result<void> send(const ProcessIdentity& process, int signal, siginfo_t* info,
                  const ByPid& by_pid) {
  const auto pidfd = open_pidfd(process);
  if (!pidfd && pidfd.error().number() != ENOSYS) return std::unexpected(pidfd.error());
  if (pidfd ? send_by_pidfd(*pidfd, signal, info, by_pid) : by_pid()) return {};
  return fail(errno, "send signal {} to process {}", signal, process.pid);
}

/// A process that is to get a signal: by its pidfd, or without one by number, if the start time is
/// still the same.
struct Receiver {
  ProcessIdentity process;  // the start time is known only without a pidfd
  UniqueFd pidfd;

  bool send(int signal) const {
    const auto by_pid = [&] { return ::kill(process.pid, signal) == 0; };
    if (pidfd) return send_by_pidfd(pidfd, signal, nullptr, by_pid);
    return !is_alive(process) || by_pid();
  }
};

/// Nothing if the process has ended, or the number is the id of a thread.
Result<std::optional<Receiver>> hold_receiver(int pid) {
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd) return Receiver{{.pid = pid, .start_time = 0}, std::move(pidfd)};
  if (errno == ESRCH || errno == ENOENT || errno == EINVAL) return std::nullopt;
  const auto process = identify_process(pid);
  if (!process && process.error().number() == ENOENT) return std::nullopt;
  if (!process) return std::unexpected(process.error());
  return Receiver{*process, UniqueFd()};
}

}  // namespace

Result<void> send_signal(const ProcessIdentity& process, int signal) {
  return send(process, signal, nullptr, [&] { return ::kill(process.pid, signal) == 0; });
}

Result<void> queue_signal(const ProcessIdentity& process, int signal, int number) {
  siginfo_t info{};
  info.si_signo = signal;
  info.si_code = SI_QUEUE;
  info.si_pid = ::getpid();
  info.si_uid = ::getuid();
  info.si_value.sival_int = number;
  return send(process, signal, &info,
              [&] { return ::sigqueue(process.pid, signal, info.si_value) == 0; });
}

Result<void> signal_listed(std::span<const int> pids, int signal,
                           const std::function<Result<std::vector<int>>()>& list) {
  constexpr std::size_t kAtOnce = 64;
  for (std::vector<Receiver> held; !pids.empty(); held.clear()) {
    const auto some = pids.first(std::min(kAtOnce, pids.size()));
    pids = pids.subspan(some.size());
    for (const int pid : some) {
      OCIRUN_TRY_ASSIGN(auto receiver, hold_receiver(pid));
      if (receiver) held.push_back(*std::move(receiver));
    }
    OCIRUN_TRY_ASSIGN(const std::vector<int> still, list());
    for (const Receiver& receiver : held) {
      const int pid = receiver.process.pid;
      if (std::ranges::find(still, pid) == still.end()) continue;
      if (!receiver.send(signal) && errno != ESRCH)
        return fail(errno, "signal {} to process {}", signal, pid);
    }
  }
  return {};
}

Result<UniqueFd> copy_descriptor(Fd pidfd, int number) {
  UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_getfd, pidfd.value, number, 0)));
  if (fd) return fd;
  if (errno == ENOSYS)
    return fail(
        ENOSYS,
        "take descriptor {} from another process: this needs Linux 5.6, and that each seccomp "
        "filter outside of ocirun allows pidfd_getfd",
        number);
  return failed_call(SYS_pidfd_getfd,
                     fmt::format("take descriptor {} from another process", number));
}

}  // namespace ocirun::linux
