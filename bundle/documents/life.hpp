#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::bundle {

/// When a container has begun and ended, and how: the file life.json of a state directory. Only a
/// container with the annotation kRecordExit (annotations.hpp) has the file.
struct LifeRecord {
  int format = 1;
  std::string started, finished;             // rfc3339_now(9); "": not yet
  std::optional<std::uint64_t> exit_status;  // 0 … 255
  std::optional<std::uint64_t> exit_signal;  // that ended the process
  /// Whether the out-of-memory killer has ended the process, for whatever limit. Nothing: not over,
  /// no controller counts, or the killer has ended some process and the status is not known.
  std::optional<bool> oom_killed;
};

inline constexpr char kLife[] = "life.json";

Result<void> write_life(Fd directory, const LifeRecord& life);
/// An empty record if there is no such file. Errors: the file is damaged.
Result<LifeRecord> read_life(Fd directory);

}  // namespace ocirun::bundle
