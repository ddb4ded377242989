#pragma once

#include <chrono>
#include <string_view>

#include "linux/base/unique_fd.hpp"

namespace ocirun::pods::cli {

/// Where a pod in the foreground prints the output of its containers: a terminal, a pipe, a socket
/// or a file.
class Display {
 public:
  explicit Display(Fd out);

  /// Prints lines, each with its line break. Waits at most a tenth of a second for a reader, and
  /// then leaves out the rest and does not wait again until somebody has read: the supervisor has
  /// other work, and the logs have all lines.
  void print(std::string_view lines);

 private:
  bool write_within(std::string_view text, std::chrono::steady_clock::time_point deadline);

  Fd out_;
  UniqueFd own_;  // the terminal or pipe opened again, so that a write does not wait
  bool is_socket_ = false;
  bool is_torn_ = false;   // a part of a line was left out
  bool is_stuck_ = false;  // nobody has read
};

}  // namespace ocirun::pods::cli
