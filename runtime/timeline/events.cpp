#include "runtime/timeline/events.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

using bundle::Node;

std::string_view text_of(const Node* node) {
  return node != nullptr && node->is_string() ? node->text : std::string_view();
}

/// The nanoseconds of a number of microseconds, "12" or "12.345". Other forms, and
/// 100,000 seconds and more, count as 0.
std::int64_t nanoseconds_of(const Node* node) {
  constexpr std::size_t kMostDigits = 11;
  constexpr std::size_t kDecimals = 3;
  if (node == nullptr || (node->kind != Node::Kind::kNatural && node->kind != Node::Kind::kOther))
    return 0;
  const std::string text = node->kind == Node::Kind::kNatural ? fmt::format("{}", node->number)
                                                              : std::string(node->text);
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string decimals = point < text.size() ? text.substr(point + 1, kDecimals) : "";
  decimals.resize(kDecimals, '0');
  const auto value = linux::number<std::int64_t>(text.substr(0, point) + decimals);
  return value && *value > 0 && point <= kMostDigits ? *value : 0;
}

std::uint64_t natural_of(const Node* node) {
  return node != nullptr && node->kind == Node::Kind::kNatural ? node->number : 0;
}

const Node* find(const Node* object, std::string_view name) {
  return object != nullptr && object->is_object() ? object->find(name) : nullptr;
}

Event event_of(const Node& node) {
  const Node* const arguments = find(&node, "args");
  Event event;
  event.category = text_of(find(&node, "cat"));
  event.name = text_of(find(&node, "name"));
  event.object = text_of(find(arguments, "object"));
  event.begin = nanoseconds_of(find(&node, "ts"));
  event.length = nanoseconds_of(find(&node, "dur"));
  event.faults = natural_of(find(arguments, "page faults"));
  return event;
}

/// Sorts the events of one lane, and counts how many others contain each.
void nest(std::vector<Event>& lane) {
  std::ranges::sort(lane, [](const Event& a, const Event& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
  });
  std::vector<std::int64_t> ends;  // of the events that contain the next one
  for (Event& event : lane) {
    while (!ends.empty() && (ends.back() < event.end() || ends.back() <= event.begin))
      ends.pop_back();
    event.depth = static_cast<int>(ends.size());
    ends.push_back(event.end());
  }
}

/// Whether a letter of UTF-8 begins at the byte.
bool begins_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

}  // namespace

std::string fitted(std::string_view text, std::size_t most) {
  constexpr std::string_view kGap = "...";
  if (text.size() <= most) return bundle::escaped(text);
  std::size_t end = (most - kGap.size()) / 2;
  std::size_t begin = text.size() - end;
  while (end > 0 && !begins_letter(text[end])) --end;
  while (begin < text.size() && !begins_letter(text[begin])) ++begin;
  return bundle::escaped(std::string(text.substr(0, end)).append(kGap).append(text.substr(begin)));
}

std::string in_ms(std::int64_t nanoseconds) {
  constexpr std::int64_t kHundredth = 10'000;  // ns in 0.01 ms
  const std::int64_t hundredths = (std::abs(nanoseconds) + kHundredth / 2) / kHundredth;
  return fmt::format("{}{}.{:02}", nanoseconds < 0 && hundredths != 0 ? "-" : "", hundredths / 100,
                     hundredths % 100);
}

std::int64_t Timeline::length() const {
  std::int64_t length = 0;
  for (const Event& event : events) length = std::max(length, event.end());
  return length;
}

Result<Timeline> read_timeline(std::string_view text) {
  bundle::Document document;
  bundle::Report report;
  if (!document.parse(text, report)) return refuse("{}", report.first_problem());
  const Node* const list =
      document.root()->is_array() ? document.root() : find(document.root(), "traceEvents");
  if (list == nullptr || !list->is_array())
    return refuse("/traceEvents: must be an array of Chrome's trace events");

  Timeline timeline;
  timeline.lost = natural_of(find(document.root(), "lostEntries"));
  std::size_t count = 0;
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  std::map<std::uint64_t, std::string> names;
  std::map<std::uint64_t, std::vector<Event>> lanes;
  for (const Node* node = list->first; node != nullptr; node = node->next) {
    const std::uint64_t thread = natural_of(find(node, "tid"));
    const std::string_view phase = text_of(find(node, "ph")), name = text_of(find(node, "name"));
    const std::string_view given = text_of(find(find(node, "args"), "name"));
    if (phase == "X") {
      if (++count > kMostEvents) return refuse("more than {} events", kMostEvents);
      lanes[thread].push_back(event_of(*node));
      origin = std::min(origin, lanes[thread].back().begin);
    }
    if (phase == "M" && name == "thread_name") names[thread] = given;
    if (phase == "M" && name == "process_name") timeline.title = given;
  }
  for (auto& [thread, events] : lanes) {
    nest(events);
    for (Event& event : events) {
      event.lane = names[thread];
      event.begin -= origin;
      timeline.events.push_back(std::move(event));
    }
  }
  return timeline;
}

}  // namespace ocirun::runtime
