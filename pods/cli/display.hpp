#pragma once

#include <string_view>

#include "linux/base/unique_fd.hpp"

namespace ocirun::pods::cli {

/// Where a pod in the foreground prints the output of its containers: a terminal, a pipe or a file.
class Display {
 public:
  explicit Display(Fd out) : out_(out) {}

  /// Prints lines, each with its line break. Waits at most a tenth of a second for a reader, and
  /// then leaves out the rest and does not wait again until somebody has read: the supervisor has
  /// other work, and the logs have all lines.
  void print(std::string_view lines);

 private:
  Fd out_;
  bool is_torn_ = false;   // a part of a line was left out
  bool is_stuck_ = false;  // nobody has read
};

}  // namespace ocirun::pods::cli
