#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ocirun::linux {

/// Removes from `rest` the part before the first `separator`, and the separator, and returns that
/// part. Without a separator, the part is all of `rest`.
inline std::string_view cut(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

/// The pieces of `text` between `separator`s, including empty ones. Views into `text`.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

/// Like split(), without the empty pieces: words between blanks, lines that are not empty.
inline std::vector<std::string_view> words(std::string_view text, char separator = ' ') {
  std::vector<std::string_view> pieces = split(text, separator);
  std::erase_if(pieces, [](std::string_view piece) { return piece.empty(); });
  return pieces;
}

/// Parses digits of `base`; the whole text must match. A minus sign is accepted only if T is
/// signed.
template <typename T = std::uint64_t>
std::optional<T> number(std::string_view text, int base = 10) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `text` with its control characters written out, as "\x1b": a name in an image must not control
/// the terminal of whoever reads a message. Newlines and tabs stay. A C1 control is written out
/// both as two bytes of UTF-8 and as the single byte that a terminal without UTF-8 obeys.
std::string without_controls(std::string_view text);
/// Like without_controls(), with newlines and tabs written out too: for a cell of a table.
std::string in_one_line(std::string_view text);

/// Now, as RFC 3339 in UTC with `digits` digits of a second's fraction (0 or 9).
std::string rfc3339_now(int digits);

}  // namespace ocirun::linux
