#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cgroups/container/cgroup.hpp"
#include "criu/launch/criu_program.hpp"
#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/signals.hpp"

namespace ocirun::runtime {

/// The bytes that are done, and the bytes of the whole work if they are known.
struct Amount {
  std::uint64_t done = 0;
  std::optional<std::uint64_t> total{};
};

/// A line on a terminal that says how far CRIU's work is. It is written anew five times a second.
class Progress {
 public:
  using Measure = std::function<std::optional<Amount>()>;

  /// Shows nothing if `output` is no terminal, or one without a cursor (TERM=dumb).
  Progress(Fd output, std::string title, Measure measure);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { erase(); }

  bool is_shown() const { return output_.value >= 0; }
  /// The tick that await_word() calls. It writes the line.
  Tick tick();
  /// Removes the line. To be called before anything else is written to the terminal.
  void erase();

 private:
  Fd output_;
  std::string title_;
  Measure measure_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  bool has_line_ = false;
};

/// "checkpoint web: 34 of about 256 MiB, 3 s". Without an amount "checkpoint web: 3 s".
std::string progress_line(const std::string& title, const std::optional<Amount>& amount,
                          std::chrono::seconds since);

/// The memory of a cgroup's processes that a dump saves, anonymous and shared, in bytes. Nothing
/// without a memory controller.
std::optional<std::uint64_t> memory_of(const cgroups::Cgroup& cgroup);
/// The size of CRIU's images of memory in the directory, in bytes. Nothing if it cannot be read.
std::optional<std::uint64_t> bytes_of_pages(Fd images);

/// Called when CRIU has reached `news.stage` and waits. An error makes CRIU undo its work, and
/// talk_with_criu() returns it. At the stage pre-resume CRIU undoes nothing any more: the callback
/// has to kill the restored processes before it returns an error, and CRIU is killed.
using OnStage = std::function<Result<void>(linux::CriuNews& news)>;

/// Runs CRIU for one request, until it has succeeded or failed. A signal that asks this command
/// to end makes CRIU undo its work. `progress` has no line while `on_stage` runs. Errors: that of
/// `on_stage`; CRIU's; EINTR.
Result<void> talk_with_criu(const linux::CriuLaunch& launch, std::vector<std::string> words,
                            const Log& log, const OnStage& on_stage, Progress& progress);

}  // namespace ocirun::runtime
