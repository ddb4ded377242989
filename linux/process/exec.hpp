#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// argv and envp as execve(2) wants them: pointers into strings that live as long as this.
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

/// Default disposition for every signal and an empty mask: what a fresh program expects (a caller
/// may ignore SIGHUP).
void reset_signals();

/// Closes every descriptor from `first` on: close_range(2), or before Linux 5.9 those that
/// /proc/self/fd lists. `kept` stays open.
void close_descriptors_from(int first, std::optional<int> kept = std::nullopt);
/// Marks every descriptor from `first` on close-on-exec; before Linux 5.11 the next 1,024 of them.
void close_descriptors_on_exec(int first);
/// Closes every descriptor above 2 that `keep` does not name.
void close_descriptors_but(std::span<const Fd> keep);

}  // namespace ocirun::linux
