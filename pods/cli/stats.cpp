#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/views.hpp"
#include "pods/run/oom_kills.hpp"
#include "pods/run/sandbox/usage.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kStatsOptions{
    Option{"no-stream", 0, {}, "print the table once, also on a terminal"},
    Option{"format", 0, "json|text", "json (once), or text (the default)", Completes::kWords},
    kDataOption,
};

/// The time between two readings of the counters, in microseconds.
constexpr useconds_t kBetweenReadings = 1'000'000;

/// A container that runs.
struct Reading {
  std::string pod;
  ContainerRecord container;
  Usage usage;
  std::optional<std::uint64_t> cpu_hundredths;  // of a percent of one CPU
};

/// The result of one look at pods.
struct Look {
  std::vector<Reading> readings;
  std::vector<std::string> idle;  // pods of which no program runs
  bool is_supervised = false;     // one of the pods has a supervisor that runs
};

Result<Look> look_at(const PodsDirectory& pods, const std::vector<std::string>& names) {
  OCIRUN_TRY_ASSIGN(const ChosenPods chosen, view_pods(pods, names));
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  Look look;
  for (const PodView& view : chosen.views) {
    const PodRecord& record = view.record;
    look.is_supervised = look.is_supervised || view.is_supervised;
    const std::size_t before = look.readings.size();
    for (const ContainerRecord& container : record.containers) {
      const bool runs = container.status == ContainerStatus::kRunning && container.pid != 0;
      if (!runs || !is_of_this_boot(record)) continue;
      Reading& reading = look.readings.emplace_back();
      reading.pod = record.name;
      reading.container = container;
      reading.usage = read_cgroup_usage(cgroup_of(record, container), record.cgroup);
      reading.usage.network = read_network_bytes(procfs, container.pid);
    }
    if (look.readings.size() == before) look.idle.push_back(record.name);
  }
  return look;
}

/// Computes the use of CPUs between two looks. A container that was started anew has none yet.
void compare(const Look& before, Look& now) {
  std::map<std::string, const Reading*> old;
  for (const Reading& reading : before.readings) old.emplace(reading.container.id, &reading);
  for (Reading& reading : now.readings) {
    const auto found = old.find(reading.container.id);
    if (found != old.end() && found->second->container.started_at == reading.container.started_at)
      reading.cpu_hundredths = cpu_hundredths(found->second->usage, reading.usage);
  }
}

using Number = std::optional<std::uint64_t>;

/// "12.3 MiB"; "-" for an unknown number.
std::string shown_bytes(const Number& bytes) {
  if (!bytes) return "-";
  constexpr std::array<std::string_view, 7> kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(*bytes);
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", *bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string shown_pair(const Number& first, const Number& second) {
  if (!first && !second) return "-";
  return fmt::format("{} / {}", shown_bytes(first), shown_bytes(second));
}

std::string shown_cpu(const Number& hundredths) {
  return hundredths ? fmt::format("{}.{:02}", *hundredths / 100, *hundredths % 100) : "-";
}

std::string table_of_stats(const Look& look) {
  std::vector<Row> rows{{"POD", "CONTAINER", "CPU %", "MEMORY / LIMIT", "PEAK", "PIDS",
                         "BLOCK READ / WRITTEN", "NET RECEIVED / SENT", "RESTARTS"}};
  for (const Reading& reading : look.readings) {
    const Usage& usage = reading.usage;
    Number received, sent;
    if (usage.network) received = usage.network->received;
    if (usage.network) sent = usage.network->sent;
    rows.push_back({reading.pod, linux::in_one_line(reading.container.name),
                    shown_cpu(reading.cpu_hundredths), shown_pair(usage.memory, usage.memory_limit),
                    shown_bytes(usage.memory_peak),
                    usage.pids ? fmt::format("{}", *usage.pids) : "-",
                    shown_pair(usage.block_read, usage.block_written), shown_pair(received, sent),
                    fmt::format("{}", reading.container.restarts)});
  }
  return text_table(rows);
}

std::string json_of_stats(const Look& look) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  const auto number = [&](std::string_view key, const Number& value) {
    out.key(key);
    value ? out.value(*value) : out.null();
  };
  out.begin_array();
  for (const Reading& reading : look.readings) {
    const Usage& usage = reading.usage;
    out.begin_object().member("pod", reading.pod).member("container", reading.container.name);
    out.member("id", reading.container.id).member("pid", reading.container.pid);
    out.key("cpuPercent");
    reading.cpu_hundredths ? out.hundredths(*reading.cpu_hundredths) : out.null();
    number("cpuNanoseconds", usage.cpu_ns);
    number("memoryBytes", usage.memory);
    number("memoryWorkingSetBytes", usage.working_set);
    number("memoryLimitBytes", usage.memory_limit);
    number("memoryPeakBytes", usage.memory_peak);
    number("pids", usage.pids);
    number("pidsLimit", usage.pids_limit);
    number("blockReadBytes", usage.block_read);
    number("blockWrittenBytes", usage.block_written);
    number("networkReceivedBytes", usage.network ? Number(usage.network->received) : Number());
    number("networkSentBytes", usage.network ? Number(usage.network->sent) : Number());
    out.member("restarts", reading.container.restarts).end_object();
  }
  out.end_array();
  return std::move(out).take() + "\n";
}

void tell_idle(const Look& look) {
  for (const std::string& name : look.idle)
    note(fmt::format("no program of the pod \"{}\" runs", name));
}

/// Puts the table in the place of the one before. "ESC [ K" clears the rest of a line, "ESC [ J"
/// the rest of the screen. Lines that the terminal has no room for are left out.
std::string on_screen(const std::string& table, bool is_first) {
  std::string text = is_first ? "\x1b[2J\x1b[H" : "\x1b[H";
  winsize size{};
  const bool is_known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
  std::size_t room = is_known ? size.ws_row - 1U : kAnyNumber;
  for (std::string_view line : linux::words(table, '\n')) {
    if (room-- == 0) break;
    if (is_known && size.ws_col > 0) line = line.substr(0, size.ws_col);
    text += fmt::format("{}\x1b[K\n", line);
  }
  return text + "\x1b[J";
}

Result<int> stats(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(const bool json, wants_json(arguments));
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  const std::vector<std::string>& names = arguments.operands();
  const bool streams = !json && !arguments.has("no-stream") && ::isatty(STDOUT_FILENO) == 1;
  OCIRUN_TRY_ASSIGN(Look before, look_at(pods, names));
  for (bool is_first = true;; is_first = false) {
    if (!before.readings.empty() || streams) ::usleep(kBetweenReadings);
    OCIRUN_TRY_ASSIGN(Look now, look_at(pods, names));
    compare(before, now);
    if (!streams) {
      if (!names.empty()) tell_idle(now);
      OCIRUN_TRY(print(json ? json_of_stats(now) : table_of_stats(now)));
      return 0;
    }
    OCIRUN_TRY(print(on_screen(table_of_stats(now), is_first)));
    if (!names.empty() && !now.is_supervised) {
      tell_idle(now);
      return 0;
    }
    before = std::move(now);
  }
}

}  // namespace

const Command kStats{{"stats",
                      "[POD...]",
                      "tell what the containers that run use; of all pods without POD",
                      kStatsOptions,
                      {0, kAnyNumber},
                      {kPods}},
                     stats};

}  // namespace ocirun::pods::cli
