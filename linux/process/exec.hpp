#pragma once

#include <span>
#include <string>
#include <vector>

#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

class Procfs;

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
/// The same with fewer system calls: resets only the signals that self/status names as ignored or
/// caught. All signals if that file cannot be read.
void reset_signals(const Procfs& procfs);

/// Closes every descriptor from `first` on: with close_range(2), or before Linux 5.9 those that
/// /proc/self/fd lists.
void close_descriptors_from(int first);
/// Sets close-on-exec for every descriptor from `first` on; before Linux 5.11 only for the next
/// 1,024.
void close_descriptors_on_exec(int first);
/// Closes every descriptor above 2 that is not in `keep`, likewise.
void close_descriptors_but(std::span<const Fd> keep);

}  // namespace ocirun::linux
