#pragma once

#include <chrono>
#include <string_view>

#include "linux/base/unique_fd.hpp"
#include "shim/ttrpc/status.hpp"

namespace ocirun::shim {

/// The log of a server, whose lines containerd copies into its own log. A line is lost while
/// containerd does not read.
class Log {
 public:
  /// `fifo` does not block; -1: containerd reads no log.
  Log(UniqueFd fifo, bool debug) : fifo_(std::move(fifo)), debug_(debug) {}

  /// Writes a line about a call that was answered after `time`. Without `debug`, only a call that
  /// has failed with Code::kUnknown gets a line: the other codes tell containerd the reason.
  void call(std::string_view method, std::chrono::nanoseconds time,
            const ttrpc::Answer& answer) const;
  void error(std::string_view message) const { write("error", message); }

  Fd fd() const { return fifo_; }

 private:
  void write(std::string_view level, std::string_view message) const;

  UniqueFd fifo_;
  bool debug_;
};

}  // namespace ocirun::shim
