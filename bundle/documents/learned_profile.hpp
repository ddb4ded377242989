#pragma once

#include <optional>
#include <set>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::bundle {

/// The profile of `run --seccomp-learn FILE`, in the form of linux.seccomp: it allows what programs
/// have used, and refuses all else with an errno.
class LearnedProfile {
 public:
  /// Reads the profile of earlier runs, if the file exists. Errors: the file is no such profile;
  /// its directory does not exist.
  static Result<LearnedProfile> open(const HostPath& file);

  /// Adds the calls that a run has used, and writes the file. `own`: the profile under which the
  /// program ran. Its conditions on arguments, its architectures and flags, and its rules that
  /// refuse calls, are taken over.
  Result<void> add(std::set<std::string> used, const std::optional<linux::SeccompProfile>& own);

 private:
  HostPath file_{"/"};
  std::set<std::string> names_;
};

}  // namespace ocirun::bundle
