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
    Option{"since", 0, "TIME",
           "lines of the last 10m, 1h30m …, or since 2026-11-25T01:02:03Z or 2026-11-25"},
    Option{"tail", 'n', "NUMBER", "the last lines of each container"},
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

/// A container whose log is printed.
struct Source {
  const PodRecord* pod;
  std::string id;
  std::string shown;  // in front of its lines, if there are several containers
};

/// The containers of the pods, or those that -c names. Errors: a pod has no such container;
/// --follow of several.
Result<std::vector<Source>> choose(const std::vector<PodView>& views, const Arguments& arguments) {
  const auto wanted = arguments.value("container");
  std::vector<Source> sources;
  for (const PodView& view : views) {
    const std::size_t before = sources.size();
    std::vector<std::string> known;
    for (const ContainerRecord& container : view.record.containers) {
      known.push_back(container.name);
      if (wanted && container.name != *wanted) continue;
      sources.push_back({&view.record, container.id,
                         views.size() == 1
                             ? container.name
                             : fmt::format("{}/{}", view.record.name, container.name)});
    }
    if (sources.size() == before)
      return refuse("the pod \"{}\" has no container \"{}\", only {}", view.record.name,
                    wanted.value_or(""), fmt::join(known, ", "));
  }
  if (sources.size() == 1 || !arguments.has("follow")) return sources;
  std::vector<std::string> all;
  for (const Source& source : sources) all.push_back(source.shown);
  return refuse("--follow follows one container, and these are {}: name one POD, and -c CONTAINER",
                fmt::join(all, ", "));
}

Result<int> logs(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(const LogQuery query, read_query(arguments));
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  std::vector<PodView> views;
  for (const std::string& pod : arguments.operands()) {
    OCIRUN_TRY_ASSIGN(views.emplace_back(), view_pod(pods, pod));
  }
  OCIRUN_TRY_ASSIGN(const std::vector<Source> sources, choose(views, arguments));
  const bool with_times = arguments.has("timestamps");
  for (const Source& source : sources) {
    OCIRUN_TRY_ASSIGN(
        const UniqueFd directory,
        within(linux::sys::open(source.pod->log_directory.c_str(), O_RDONLY | O_DIRECTORY),
               "log directory"));
    const std::string prefix = sources.size() == 1 ? "" : source.shown + " | ";
    const auto show = [&](const LogLine& line) {
      return print(fmt::format("{}{}{}{}{}", prefix, with_times ? format_time(line.time) : "",
                               with_times ? " " : "", line.text, line.whole ? "\n" : ""));
    };
    const auto has_ended = [&] {
      const auto now = view_pod(pods, source.pod->name);
      return !now || !now->is_supervised;
    };
    auto read = read_log(directory, source.id, query, show, has_ended);
    // An init container that has not run yet has no log.
    if (!read && read.error().number() == ENOENT && sources.size() > 1) continue;
    OCIRUN_TRY(std::move(read));
  }
  return 0;
}

}  // namespace

const Command kLogs{{"logs",
                     "POD...",
                     "print what the containers of pods have written",
                     kLogsOptions,
                     {1, kAnyNumber},
                     {kPods}},
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
