#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/timeline/events.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::size_t kWidth = 56;  // bytes, of the column of steps
constexpr std::size_t kWidestLane = 24;
constexpr int kDeepest = 8;  // deeper events are indented as much

/// The width of the column of lanes.
std::size_t width_of_lanes(const std::vector<Event>& events) {
  std::size_t width = std::string_view("lane").size();
  for (const Event& event : events) width = std::max(width, event.lane.size());
  return std::min(width, kWidestLane) + 2;
}

/// The times of steps with one lane and text, in two timelines.
struct Times {
  std::int64_t before = 0, after = 0;  // ns
};
using Key = std::pair<std::string, std::string>;  // lane, text

/// The steps of both timelines. `order`: as the steps of the first follow one another, then those
/// that only the second has.
struct Comparison {
  std::vector<Key> order;
  std::map<Key, Times> times;

  void add(const Timeline& timeline, std::int64_t Times::* which) {
    for (const Event& event : timeline.events) {
      if (!event.is_step()) continue;
      const auto [row, is_new] = times.try_emplace({event.lane, event.text()});
      if (is_new) order.push_back(row->first);
      row->second.*which += event.length;
    }
  }
};

}  // namespace

std::string timeline_table(const Timeline& timeline) {
  const std::int64_t whole = timeline.length();
  const std::size_t lanes = width_of_lanes(timeline.events);
  std::string table = fmt::format("{:<{}}{:<{}}{:>9}{:>9}{:>8}{:>8}\n", "lane", lanes, "step",
                                  kWidth, "at ms", "ms", "share", "faults");
  std::string lane;
  for (const Event& event : timeline.events) {
    const auto indent = 2 * static_cast<std::size_t>(std::min(event.depth, kDeepest));
    table += fmt::format("{:<{}}{}{:<{}}{:>9}{:>9}",
                         event.lane == lane ? "" : fitted(event.lane, kWidestLane), lanes,
                         std::string(indent, ' '), fitted(event.text(), kWidth - indent),
                         kWidth - indent, in_ms(event.begin), in_ms(event.length));
    if (event.is_step() && whole > 0) table += fmt::format("{:>6} %", 100 * event.length / whole);
    if (event.faults != 0) table += fmt::format("{:>8}", event.faults);
    table += '\n';
    lane = event.lane;
  }
  if (timeline.lost != 0)
    table += fmt::format("{} entries are missing: there was no room for more\n", timeline.lost);
  return table + fmt::format("{}: {} ms\n", fitted(timeline.title, kWidth), in_ms(whole));
}

std::string timeline_comparison(const Timeline& before, const Timeline& after) {
  Comparison comparison;
  comparison.add(before, &Times::before);
  comparison.add(after, &Times::after);
  const std::size_t lanes = std::max(width_of_lanes(before.events), width_of_lanes(after.events));
  std::string table = fmt::format("{:<{}}{:<{}}{:>10}{:>10}{:>10}\n", "lane", lanes, "step", kWidth,
                                  "first ms", "second ms", "more ms");
  const auto add = [&](const std::string& lane, const std::string& text, Times times) {
    table += fmt::format("{:<{}}{:<{}}{:>10}{:>10}{:>10}\n", fitted(lane, kWidestLane), lanes,
                         fitted(text, kWidth), kWidth, in_ms(times.before), in_ms(times.after),
                         in_ms(times.after - times.before));
  };
  for (const Key& key : comparison.order) add(key.first, key.second, comparison.times.at(key));
  add("", "in all", {before.length(), after.length()});
  return table;
}

}  // namespace ocirun::runtime
