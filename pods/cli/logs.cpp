#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"
#include "pods/cli/options.hpp"
#include "pods/run/event_log.hpp"
#include "pods/run/logs/line.hpp"
#include "pods/run/logs/reader.hpp"
#include "pods/run/manage.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kLogsOptions{
    Option{"container", 'c', "CONTAINER", "only the log of CONTAINER", Completes::kPodContainer},
    Option{"follow", 'f', {}, "wait for more until the pod has ended"},
    Option{"since", 0, "TIME", "lines of the last 10m, 1h30m …, or since 2026-11-25T01:02:03Z"},
    Option{"tail", 0, "NUMBER", "the last lines"},
    Option{"timestamps", 't', {}, "print the time of each line"},
    kDataOption,
};

Result<LogQuery> read_query(const Arguments& arguments) {
  LogQuery query;
  query.follow = arguments.has("follow");
  if (const auto since = arguments.value("since")) {
    OCIRUN_TRY_ASSIGN(query.since, within(parse_since(*since, wall_clock()), "--since"));
  }
  if (const auto tail = arguments.value("tail")) {
    const auto number = linux::number(*tail);
    if (!number) return refuse("--tail {}: must be a number of lines", *tail);
    query.tail = number;
  }
  return query;
}

/// The ids of the containers whose logs are to be printed.
Result<std::vector<std::string>> choose(const PodRecord& record, const Arguments& arguments) {
  const auto wanted = arguments.value("container");
  std::vector<std::string> ids, known;
  for (const ContainerRecord& container : record.containers) {
    known.push_back(container.name);
    if (!wanted || container.name == *wanted) ids.push_back(container.id);
  }
  if (ids.empty())
    return refuse("the pod has no container \"{}\", only {}", wanted.value_or(""),
                  fmt::join(known, ", "));
  if (ids.size() > 1 && arguments.has("follow"))
    return refuse("--follow follows one container: -c names one of {}", fmt::join(known, ", "));
  return ids;
}

Result<int> logs(const Arguments& arguments, const Caller&) {
  const std::string& pod = arguments.operands().front();
  OCIRUN_TRY_ASSIGN(const LogQuery query, read_query(arguments));
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  OCIRUN_TRY_ASSIGN(const PodView view, view_pod(pods, pod));
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> ids, choose(view.record, arguments));
  OCIRUN_TRY_ASSIGN(
      const UniqueFd directory,
      within(linux::sys::open(view.record.log_directory.c_str(), O_RDONLY | O_DIRECTORY),
             "log directory"));
  const bool with_times = arguments.has("timestamps");
  for (const std::string& id : ids) {
    const std::string prefix = ids.size() > 1 ? id.substr(pod.size() + 1) + " | " : "";
    const auto show = [&](const LogLine& line) {
      return print(fmt::format("{}{}{}{}{}", prefix, with_times ? format_time(line.time) : "",
                               with_times ? " " : "", line.text, line.whole ? "\n" : ""));
    };
    const auto has_ended = [&] {
      const auto now = view_pod(pods, pod);
      return !now || !now->is_supervised;
    };
    auto read = read_log(directory, id, query, show, has_ended);
    // An init container that has not run yet has no log.
    if (!read && read.error().number() == ENOENT && ids.size() > 1) continue;
    OCIRUN_TRY(std::move(read));
  }
  return 0;
}

}  // namespace

const Command kLogs{{"logs",
                     "POD",
                     "print what the containers of a pod have written",
                     kLogsOptions,
                     {1, 1},
                     {kOnePod}},
                    logs};

namespace {

constexpr std::array kEventsOptions{
    Option{"follow", 'f', {}, "wait for more until the pod has ended"},
    kDataOption,
};

constexpr std::size_t kPiece = 65536;
constexpr int kPause = 100;  // milliseconds between two looks at the file

/// Prints the bytes of the file from `offset` on, and moves `offset` to their end.
Result<void> print_from(Fd file, off_t& offset) {
  std::string piece(kPiece, '\0');
  for (;;) {
    const ssize_t count = ::pread(file.value, piece.data(), piece.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errno, "read the events");
    if (count == 0) return {};
    OCIRUN_TRY(print(std::string_view(piece).substr(0, static_cast<std::size_t>(count))));
    offset += count;
  }
}

Result<int> events(const Arguments& arguments, const Caller&) {
  const std::string& name = arguments.operands().front();
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  OCIRUN_TRY_ASSIGN(const PodDirectory directory, pods.open_pod(name));
  OCIRUN_TRY_ASSIGN(const UniqueFd file, linux::sys::openat(directory.fd(), EventLog::kFile,
                                                            O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  off_t offset = 0;
  for (;;) {
    const auto view = view_pod(pods, name);
    OCIRUN_TRY(print_from(file, offset));
    // The end of the pod was seen before the last events were read, so that none is missing.
    if (!arguments.has("follow") || !view || !view->is_supervised) return 0;
    ::poll(nullptr, 0, kPause);
  }
}

}  // namespace

const Command kEvents{{"events",
                       "POD",
                       "print what has happened to a pod, a JSON object in each line",
                       kEventsOptions,
                       {1, 1},
                       {kOnePod}},
                      events};

}  // namespace ocirun::pods::cli
