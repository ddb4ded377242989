#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::bundle {

/// When a container has begun and ended, and how: the file life.json of a state directory. Only a
/// container with the annotation kRecordExit has the file.
struct LifeRecord {
  int format = 1;
  std::string started, finished;             // rfc3339_now(9); "": not yet
  std::optional<std::uint64_t> exit_status;  // 0 … 255
  std::optional<std::uint64_t> exit_signal;  // that ended the process
  bool oom_killed = false;                   // for the memory limit of the container
};

inline constexpr char kLife[] = "life.json";
/// "true": a small process waits for the end of the container, and records it.
inline constexpr char kRecordExit[] = "org.ocirun.record-exit";

Result<void> write_life(Fd directory, const LifeRecord& life);
/// An empty record if there is no such file. Errors: the file is damaged.
Result<LifeRecord> read_life(Fd directory);

}  // namespace ocirun::bundle
