#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"

namespace ocirun::runtime {

/// A child process that notes the system calls of a container (linux::note_calls). The process is
/// apart from the command, because init sends the command messages under the filter.
class SeccompLearner {
 public:
  static Result<SeccompLearner> spawn();
  SeccompLearner(SeccompLearner&& other) noexcept
      : socket_(std::move(other.socket_)), child_(std::exchange(other.child_, {})) {}
  SeccompLearner& operator=(SeccompLearner&&) = delete;
  ~SeccompLearner();

  /// Gives the child the listener of the container's filter.
  Result<void> watch(Fd listener) const;

  struct Learned {
    std::set<std::string> names;
    std::vector<std::string> unknown;  // calls without a name, for a warning
  };
  /// Called after the end of the container. Errors: the child has died; no answer within ten
  /// seconds.
  Result<Learned> collect() const;

 private:
  SeccompLearner() = default;
  linux::MessageSocket socket_;
  linux::Child child_;
};

}  // namespace ocirun::runtime
