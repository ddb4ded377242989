#pragma once

#include <optional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::bundle {

/// The timeline of one command (linux/base/timeline.hpp) for a file: `--trace FILE`.
class Recording {
 public:
  /// No file: the command has no timeline.
  Recording() = default;
  /// Begins the timeline. `title` names the command and the container. Errors: the directory of
  /// `file` cannot be opened; `file` exists and is no regular file, such as /dev/null, which a file
  /// would replace.
  static Result<Recording> begin(const HostPath& file, std::string title);

  /// Ends the timeline, and writes the file with mode 0600. Only the first call does something.
  /// Errors: the file cannot be written, which the caller should make a warning, because the
  /// container runs.
  Result<void> finish();

 private:
  UniqueFd directory_;  // empty: nothing is to be written
  std::string path_, name_, title_;
};

/// The entries so far in the format of Chrome's trace events.
std::string trace_events(const std::string& title);

}  // namespace ocirun::bundle
