#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/run/logs/line.hpp"

namespace ocirun::pods {

struct LogQuery {
  std::optional<timespec> since;  // lines of this time and later
  std::optional<std::uint64_t>
      tail;             // only so many lines at the end of the log, as it is at the start
  bool follow = false;  // wait for more lines
};

/// Calls `line` with the lines of a container's log, the oldest first, from the rotated files too.
/// Pieces are joined up to 1 MiB; a longer line comes in several calls. Damaged lines are skipped.
/// With `follow`, waits for more lines, also after rotations, until `ended` returns true and
/// everything is read. Errors: those of `line`; ENOENT if there is no log and `follow` is not set;
/// a file of the log is not a regular file.
Result<void> read_log(Fd directory, const std::string& name, const LogQuery& query,
                      const std::function<Result<void>(const LogLine&)>& line,
                      const std::function<bool()>& ended = {});

}  // namespace ocirun::pods
