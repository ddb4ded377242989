#include "bundle/documents/recording.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"

namespace ocirun::bundle {
namespace {

using linux::timeline::Entry;
using linux::timeline::Kind;

constexpr linux::Named<Kind> kKindNames[] = {
    {"step", Kind::kStep},
    {"call", Kind::kCall},
    {"wait", Kind::kWait},
    {"program", Kind::kProgram},
};

// The lane of all programs. A program runs beside its parent's steps, not within them.
constexpr char kPrograms[] = "programs";

std::string_view lane_of(const Entry& entry) {
  return entry.kind == Kind::kProgram ? kPrograms : entry.lane;
}

/// The entries, sorted by their beginnings. An open step ends when the next wait of ocirun for the
/// process ends: the process has called execve(2), or has loaded a filter and told ocirun. Without
/// such a wait, the step ends with the last entry.
std::vector<Entry> ended_entries() {
  std::vector<Entry> list = linux::timeline::entries();
  std::ranges::sort(list, {}, &Entry::begin);
  std::int64_t last = 0;
  for (const Entry& entry : list) last = std::max({last, entry.begin, entry.end});
  const auto is_end_of = [](const Entry& open, const Entry& wait) {
    return wait.kind == Kind::kWait && wait.end > open.begin &&
           std::string_view(wait.lane) == linux::timeline::kFirstLane;
  };
  for (Entry& entry : list) {
    if (entry.end != Entry::kOpen) continue;
    entry.end = last;
    for (const Entry& wait : list)
      if (is_end_of(entry, wait)) entry.end = std::min(entry.end, wait.end);
  }
  return list;
}

class EventWriter {
 public:
  explicit EventWriter(std::int64_t origin) : origin_(origin) {
    json_.begin_object().key("traceEvents").begin_array();
  }
  void name(std::string_view what, std::size_t thread, std::string_view name) {
    begin("M", what, thread).key("args").begin_object().member("name", name);
    json_.end_object().end_object();
  }
  void write(const Entry& entry) {
    const std::size_t thread = thread_of(lane_of(entry));
    begin("X", entry.name, thread).member("cat", linux::name_of(kKindNames, entry.kind));
    json_.key("ts").hundredths(static_cast<std::uint64_t>(entry.begin - origin_) / 10);
    json_.key("dur").hundredths(static_cast<std::uint64_t>(entry.end - entry.begin) / 10);
    json_.key("args").begin_object();
    if (entry.object[0] != '\0') json_.member("object", std::string_view(entry.object));
    if (entry.faults != 0) json_.member("page faults", entry.faults);
    json_.end_object().end_object();
  }
  std::string take(std::size_t lost) && {
    json_.end_array().member("displayTimeUnit", "ms");
    if (lost != 0) json_.member("lostEntries", lost);
    json_.end_object();
    return std::move(json_).take() + "\n";
  }

 private:
  JsonWriter& begin(std::string_view phase, std::string_view name, std::size_t thread) {
    return json_.begin_object()
        .member("ph", phase)
        .member("name", name)
        .member("pid", 1)
        .member("tid", thread);
  }
  /// The number of a lane, from 1. The first use of a lane writes its name.
  std::size_t thread_of(std::string_view lane) {
    const auto known = std::ranges::find(lanes_, lane);
    const auto thread = static_cast<std::size_t>(known - lanes_.begin()) + 1;
    if (known == lanes_.end()) {
      lanes_.push_back(lane);
      name("thread_name", thread, lane);
    }
    return thread;
  }

  JsonWriter json_{JsonWriter::Layout::kOneLine};
  std::int64_t origin_;                  // ns
  std::vector<std::string_view> lanes_;  // lane 1 first
};

}  // namespace

std::string trace_events(const std::string& title) {
  const std::vector<Entry> entries = ended_entries();
  EventWriter writer(entries.empty() ? 0 : entries.front().begin);
  writer.name("process_name", 0, title);
  for (const Entry& entry : entries) writer.write(entry);
  return std::move(writer).take(linux::timeline::lost());
}

Result<Recording> Recording::begin(const HostPath& file, std::string title) {
  Recording recording;
  OCIRUN_TRY_ASSIGN(recording.directory_, linux::open_parent(file));
  recording.path_ = file.string();
  recording.name_ = file.string().substr(file.string().rfind('/') + 1);
  const auto present = linux::sys::fstatat(recording.directory_, recording.name_.c_str());
  if (!present && !is_missing(present)) return std::unexpected(present.error());
  if (present && !S_ISREG(present->st_mode))
    return refuse("{}: is no regular file: give the name of a new file", file.string());
  recording.title_ = std::move(title);
  OCIRUN_TRY(linux::timeline::begin());
  linux::timeline::step("read the arguments");
  return recording;
}

Result<void> Recording::finish() {
  const UniqueFd directory = std::exchange(directory_, {});
  if (!directory) return {};
  linux::timeline::end_step();
  auto written = linux::within_memory(
      [&] { return linux::replace_file(directory, name_, trace_events(title_), 0600); });
  linux::timeline::mute();
  return within(std::move(written), "no timeline: {}", path_);
}

}  // namespace ocirun::bundle
