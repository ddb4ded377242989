#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/timeline/events.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::int64_t kRow = 18, kHead = 44, kLabels = 330, kBars = 560, kMargin = 70;  // px

// Letters that the columns have room for.
constexpr std::size_t kLaneLetters = 11, kNameLetters = 40;

std::string in_xml(std::string_view text, std::size_t most) {
  std::string out;
  for (const char c : fitted(text, most)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else
      out += c;
  }
  return out;
}

std::string_view color_of(const Event& event) {
  if (event.category == "program") return "#c2552d";
  if (event.category == "wait") return "#c9c9c9";
  return event.lane == "ocirun" ? "#2f6f9f" : "#4c9a5b";
}

/// The distance of the lines of the grid, in ns: 1, 2 or 5 times a power of ten, so that there are
/// at most ten lines.
std::int64_t grid_step(std::int64_t whole) {
  constexpr std::int64_t kLeast = 10'000;  // 0.01 ms
  for (std::int64_t power = kLeast;; power *= 10)
    for (const int factor : {1, 2, 5})
      if (whole / (power * factor) <= 10) return power * factor;
}

/// A wait is drawn in the row of the step that contains it. Calls are not drawn.
bool is_drawn(const Event& event) { return event.is_step() || event.category == "wait"; }

/// The horizontal scale. Positions and widths have tenths of a pixel.
struct Scale {
  std::int64_t whole;  // ns
  std::string width(std::int64_t ns) const { return text(std::max<std::int64_t>(tenths(ns), 10)); }
  std::string at(std::int64_t ns) const { return text(10 * kLabels + tenths(ns)); }

 private:
  std::int64_t tenths(std::int64_t ns) const { return ns * (10 * kBars) / whole; }
  static std::string text(std::int64_t tenths) {
    return fmt::format("{}.{}", tenths / 10, tenths % 10);
  }
};

}  // namespace

std::string timeline_picture(const Timeline& timeline) {
  const Scale scale{std::max<std::int64_t>(timeline.length(), 1)};
  const std::int64_t height =
      kHead + kRow * std::ranges::count_if(timeline.events, &Event::is_step) + 10;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"8\" y=\"18\" font-weight=\"bold\">{2}: {3} ms</text>\n",
      kLabels + kBars + kMargin, height, in_xml(timeline.title, kNameLetters),
      in_ms(timeline.length()));
  const std::int64_t step = grid_step(scale.whole);
  for (std::int64_t ns = 0; ns <= scale.whole; ns += step)
    svg += fmt::format(
        "<path d=\"M{0} 34V{1}\" stroke=\"#e4e4e4\"/>"
        "<text x=\"{0}\" y=\"30\" fill=\"#777\" text-anchor=\"middle\">{2}</text>\n",
        scale.at(ns), height, in_ms(ns));
  std::int64_t y = kHead - kRow;
  for (const Event& event : timeline.events) {
    if (!is_drawn(event)) continue;
    if (event.is_step()) {
      y += kRow;
      svg += fmt::format(
          "<text x=\"8\" y=\"{0}\" fill=\"#777\">{1}</text><text x=\"84\" y=\"{0}\">{2}</text>"
          "<text x=\"{3}\" dx=\"4\" y=\"{0}\" fill=\"#777\">{4}</text>\n",
          y + 11, in_xml(event.lane, kLaneLetters), in_xml(event.text(), kNameLetters),
          scale.at(event.end()), in_ms(event.length));
    }
    svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"12\" fill=\"{}\"/>\n",
                       scale.at(event.begin), y + 1, scale.width(event.length), color_of(event));
  }
  return svg + "</svg>\n";
}

}  // namespace ocirun::runtime
