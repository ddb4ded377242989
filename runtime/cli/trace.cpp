#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "linux/base/file_io.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/cli/options.hpp"
#include "runtime/cli/values.hpp"
#include "runtime/timeline/events.hpp"

namespace ocirun::runtime::cli {

using bundle::Recording;

namespace {

Result<Timeline> read(const std::string& file) {
  OCIRUN_TRY_ASSIGN(const std::string text, within(read_document(file), "{}", file));
  return within(read_timeline(text), "{}", file);
}

/// A file in the directory $OCIRUN_TRACE. Its name has the time in seconds, so that a listing shows
/// the order.
Result<Recording> begin_in_directory(const char* directory, const Command& command,
                                     std::string title) {
  if (*directory != '/') return refuse("{}: must be an absolute path", directory);
  return Recording::begin(HostPath(fmt::format("{}/{}-{}-{}.json", directory, std::time(nullptr),
                                               command.name, ::getpid())),
                          std::move(title));
}

}  // namespace

Result<Recording> begin_recording(const Command& command, const Arguments& arguments,
                                  const Log& log) {
  if (std::ranges::find(command.options, kTrace.name, &Option::name) == command.options.end())
    return Recording();
  std::string title = fmt::format("ocirun {}", command.name);
  if (!arguments.operands().empty()) title += " " + arguments.operands().front();
  if (const auto file = arguments.path("trace"))
    return within(Recording::begin(*file, std::move(title)), "--trace");
  const char* const directory = ::secure_getenv("OCIRUN_TRACE");
  if (directory == nullptr || *directory == '\0') return Recording();
  auto begun = begin_in_directory(directory, command, std::move(title));
  if (begun) return begun;
  log.warn(fmt::format("no timeline: OCIRUN_TRACE: {}", begun.error().message()));
  return Recording();
}

void finish(Recording& recording, const Log& log) {
  if (const auto written = recording.finish(); !written) log.warn(written.error().message());
}

Result<int> run_trace(const Invocation& invocation) {
  const std::vector<std::string>& files = invocation.arguments.operands();
  const bool wants_picture = invocation.arguments.has("svg");
  if (wants_picture && files.size() > 1) return refuse("--svg: draws one timeline: give one file");
  OCIRUN_TRY_ASSIGN(const Timeline first, read(files.front()));
  if (files.size() > 1) {
    OCIRUN_TRY_ASSIGN(const Timeline second, read(files.back()));
    OCIRUN_TRY(print(timeline_comparison(first, second)));
    return 0;
  }
  OCIRUN_TRY(print(wants_picture ? timeline_picture(first) : timeline_table(first)));
  return 0;
}

}  // namespace ocirun::runtime::cli
