#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// One entry of a timeline that was read from a file.
struct Event {
  std::string lane, category, name, object;
  std::int64_t begin = 0, length = 0;  // ns; the first event begins at 0
  std::uint64_t faults = 0;            // page faults, of a step
  int depth = 0;                       // the number of events of the lane that contain this one

  std::int64_t end() const { return begin + length; }
  /// Not a call or a wait, which are within a step.
  bool is_step() const { return category == "step" || category == "program"; }
  /// "make a mount /mounts/3"
  std::string text() const { return object.empty() ? name : name + " " + object; }
};

struct Timeline {
  std::string title;
  std::vector<Event> events;    // by lane, in the order of the lanes' beginnings; then by time
  std::uint64_t lost = 0;       // entries for which there was no room
  std::int64_t length() const;  // ns, from the first beginning to the last end
};

/// Reads Chrome's trace events: an object with `traceEvents`, or the array alone. Passes over
/// events of other phases than X and M. Errors: the text is no JSON of that form; it has more than
/// kMostEvents events.
Result<Timeline> read_timeline(std::string_view text);
inline constexpr std::size_t kMostEvents = 100'000;

/// The text for a terminal or a picture, in one line: cut in the middle to `most` bytes, and
/// control characters escaped.
std::string fitted(std::string_view text, std::size_t most);
/// Nanoseconds as milliseconds with two decimals, rounded: "12.34".
std::string in_ms(std::int64_t nanoseconds);

/// A table of the steps, and of the calls and waits within them.
std::string timeline_table(const Timeline& timeline);
/// A table of the steps of two timelines, with the difference.
std::string timeline_comparison(const Timeline& before, const Timeline& after);
/// A picture: a row for each step and program, a bar for its time.
std::string timeline_picture(const Timeline& timeline);

}  // namespace ocirun::runtime
