#pragma once

#include <optional>
#include <utility>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/seccomp/filter.hpp"
#include "linux/seccomp/learn.hpp"

namespace ocirun::bundle {

/// The profile of `run --seccomp-learn FILE`, in the form of linux.seccomp: it allows what programs
/// have used, and refuses all else with an errno.
class LearnedProfile {
 public:
  /// `own`: the profile under which the program runs. Its conditions on arguments, its
  /// architectures and flags, and its rules that refuse calls, are taken over. Errors: FILE is no
  /// such profile, or has conditions or refusals that `own` lacks; FILE cannot be written; `own`
  /// allows by default and refuses by arguments, which no profile that refuses by default can say.
  static Result<LearnedProfile> open(const HostPath& file,
                                     std::optional<linux::SeccompProfile> own);
  /// Adds the calls that a run has used to those that the file has now, and writes the file. Runs
  /// into files of one directory wait for each other, for two seconds at most. Errors: those of
  /// open().
  Result<void> add(const linux::LearnedCalls& used) const;

 private:
  LearnedProfile(HostPath file, std::optional<linux::SeccompProfile> own)
      : file_(std::move(file)), own_(std::move(own)) {}
  HostPath file_;
  std::optional<linux::SeccompProfile> own_;
};

}  // namespace ocirun::bundle
