#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// argv and envp for execve(2): pointers into strings that live as long as this object.
class ExecArguments {
 public:
  ExecArguments(std::vector<std::string> arguments, std::vector<std::string> environment);
  ExecArguments(const ExecArguments&) = delete;
  ExecArguments& operator=(const ExecArguments&) = delete;
  char* const* argv() const { return argv_.data(); }
  char* const* envp() const { return envp_.data(); }

 private:
  std::vector<std::string> arguments_, environment_;
  std::vector<char*> argv_, envp_;
};

/// Sets the default disposition for every signal, and an empty signal mask, as a new program
/// expects it (the caller of the runtime may ignore SIGHUP).
void reset_signals();
/// Like reset_signals() with fewer system calls. `status` is the text of /proc/PID/status of this
/// process, or of the process that cloned this process: a clone inherits the dispositions. Resets
/// the signals that the text lists as ignored or caught; without such lists, all signals.
void reset_signals(std::string_view status);

/// Closes every descriptor from `first` on: with close_range(2), or before Linux 5.9 those that
/// /proc/self/fd lists.
void close_descriptors_from(int first);
/// Sets close-on-exec for every descriptor from `first` on; before Linux 5.11 only for the next
/// 1,024.
void close_descriptors_on_exec(int first);
/// Like close_descriptors_from(), for every descriptor above 2 that is not in `keep`.
void close_descriptors_but(std::span<const Fd> keep);

/// The arguments and the environment that execve(2) gave this process. The kernel has put both into
/// one piece of memory, the environment behind the arguments.
class CommandLine {
 public:
  CommandLine() = default;
  /// To be constructed before anything changes `environ`.
  explicit CommandLine(char* const argv[]);

  /// Overwrites the arguments and the environment in this process's memory: /proc/PID/cmdline is
  /// then "ocirun: init", and /proc/PID/environ nothing but zeros. The kernel shows the first file
  /// to every process of the pid namespace, and the second to any with CAP_PERFMON or
  /// CAP_SYS_ADMIN, dumpable or not. So a process calls forget() before it enters a container's pid
  /// namespace. Afterwards no variable is set.
  void forget() const;

 private:
  char* words_ = nullptr;
  std::size_t words_size_ = 0;  // bytes, with the last NUL
  std::size_t size_ = 0;        // bytes of the arguments and the environment
};

}  // namespace ocirun::linux
