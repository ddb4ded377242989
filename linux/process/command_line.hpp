#pragma once

#include <cstddef>

namespace ocirun::linux {

/// The words and the environment that this process was executed with, where the kernel has put
/// them: one behind the other.
class CommandLine {
 public:
  CommandLine() = default;
  /// Called before anything changes `environ`.
  explicit CommandLine(char* const argv[]);

  /// Overwrites both in this process's memory: /proc/PID/cmdline is then "ocirun: init", and
  /// /proc/PID/environ nothing but zeros. The kernel shows the first file to every process of the
  /// pid namespace, and the second to any with CAP_PERFMON or CAP_SYS_ADMIN, dumpable or not. So a
  /// process calls this before a container's pid namespace has it. Afterwards no variable is set.
  void forget() const;

 private:
  char* words_ = nullptr;
  std::size_t words_size_ = 0;  // bytes, with the last NUL
  std::size_t size_ = 0;        // of both
};

}  // namespace ocirun::linux
