#pragma once

#include <optional>
#include <utility>

#include "bundle/config/config.hpp"
#include "bundle/documents/learned_profile.hpp"
#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/seccomp/learn.hpp"
#include "runtime/base/log.hpp"

namespace ocirun::runtime {

/// `run --seccomp-learn FILE`: a child process that notes the system calls of a container
/// (linux::note_calls), and the profile in FILE. The process is apart from the command, because
/// init sends the command messages under the filter. It ends a second after the learner is
/// destroyed.
class SeccompLearner {
 public:
  static Result<SeccompLearner> spawn(HostPath file);

  /// Gives a document without a profile one that allows everything, for the learning filter.
  /// Errors: those of LearnedProfile::open(); the profile has an agent.
  Result<void> prepare(bundle::Config& config);
  /// Gives the child the listener of the container's filter.
  Result<void> watch(Fd listener) const;
  /// Called after the end of the container: writes FILE. Errors: the child has died; no answer
  /// within ten seconds; those of LearnedProfile::add().
  Result<void> finish(const Log& log) const;

 private:
  SeccompLearner(HostPath file, linux::MessageSocket socket)
      : file_(std::move(file)), socket_(std::move(socket)) {}
  Result<linux::LearnedCalls> collect() const;

  HostPath file_;
  linux::MessageSocket socket_;
  std::optional<bundle::LearnedProfile> profile_;
};

}  // namespace ocirun::runtime
