#pragma once

// Readers: callables (Value, T&) -> bool that check a JSON value and convert it to a C++ value. A
// reader reports every problem that it finds, and continues; it returns false if it found one.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bundle/json/value.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/number_set.hpp"

namespace ocirun::bundle {

bool flag(Value at, bool& out);
/// Any string without NUL, at which the kernel would cut off a path, argument or option (D-8).
bool text(Value at, std::string& out);
bool nonempty_text(Value at, std::string& out);
/// A text "NAME=value" whose NAME is not empty (P-5).
bool environment_entry(Value at, std::string& out);
/// An absolute path, for std::string, HostPath, RootfsPath.
inline constexpr auto absolute_path = [](Value at, auto& out) {
  std::string path;
  if (!nonempty_text(at, path)) return false;
  if (!path.starts_with('/')) {
    at.problem("must be an absolute path, not {}", found(at));
    return false;
  }
  out = std::remove_reference_t<decltype(out)>(std::move(path));
  return true;
};

/// An integer literal from `least` to `most`, both included. Any other value is a problem, and
/// gives nothing (D-7).
std::optional<std::int64_t> signed_number(Value at, std::int64_t least, std::int64_t most);
std::optional<std::uint64_t> unsigned_number(Value at, std::uint64_t least, std::uint64_t most);

/// Reads a whole number from `least` to `most`, both included, and in the range of T.
struct Range {
  std::int64_t least;
  std::uint64_t most;
  template <std::integral T>
  bool operator()(Value at, T& out) const {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_signed_v<T>) {
      const auto top = static_cast<std::uint64_t>(Limits::max());
      const auto number = signed_number(at, std::max<std::int64_t>(least, Limits::min()),
                                        static_cast<std::int64_t>(most < top ? most : top));
      if (number) out = static_cast<T>(*number);
      return number.has_value();
    } else {
      const auto number = unsigned_number(at, least < 0 ? 0 : static_cast<std::uint64_t>(least),
                                          std::min<std::uint64_t>(most, Limits::max()));
      if (number) out = static_cast<T>(*number);
      return number.has_value();
    }
  }
};
constexpr Range range(std::int64_t least, std::uint64_t most) { return {least, most}; }
inline constexpr Range whole_number = {std::numeric_limits<std::int64_t>::min(),
                                       std::numeric_limits<std::uint64_t>::max()};
/// Bytes, or -1 for no limit.
inline constexpr Range bytes_or_unlimited = {-1, std::numeric_limits<std::int64_t>::max()};

/// A user or group id: 0 to 2^32-2 (P-19).
template <typename Tag>
bool id(Value at, Id<Tag>& out) {
  const auto value = unsigned_number(at, 0, Id<Tag>::kUnchanged - 1);
  if (value) out = *Id<Tag>::make(*value);
  return value.has_value();
}
/// A list of CPUs or memory nodes such as "0-3,7".
bool number_set(Value at, linux::NumberSet& out);
bool uid(Value at, Uid& out);
bool gid(Value at, Gid& out);

/// A list. A wrong element takes a place in `out` too, so that `out` has the document's indices.
template <typename Reader>
struct List {
  Reader element;
  bool operator()(Value at, auto& out) const {
    if (!at.expect_list()) return false;
    bool good = true;
    for (const Value item : at) good &= element(item, out.emplace_back());
    return good;
  }
};
template <typename Reader>
constexpr auto list_of(Reader element) {
  return List<Reader>{element};
}
inline constexpr auto texts = list_of(text);

/// Reports that the value is none of the words `known`: `unknown action "X" (did you mean Y?)`. The
/// sentence lists all words if none is near.
void unknown_word(Value at, std::string_view what, std::span<const std::string_view> known);
/// Warns that the name of the member `at` is none of `known`: `unknown name, ignored (did you mean
/// X?)`.
void unknown_name(Value at, std::span<const std::string_view> known);
/// Reports that the name of the member `at` is none of `known`: `unknown name (did you mean X?)`.
/// The sentence lists all names if none is near; an empty name of `known` is never told. Returns
/// the near name as a set of indices of `known`: the bit 1 << index, or 0 if none is near.
std::uint64_t refuse_name(Value at, std::span<const std::string_view> known);

/// A word of an enumeration. `lookup` gives the word's value, if any; `names` gives the known
/// words. `what` names the enumeration in messages.
template <typename Lookup, typename Names>
constexpr auto word(std::string_view what, Lookup lookup, Names names) {
  return [=](Value at, auto& out) {
    std::string name;
    if (!text(at, name)) return false;
    if (const auto value = lookup(name)) {
      out = static_cast<std::remove_reference_t<decltype(out)>>(*value);
      return true;
    }
    unknown_word(at, what, names());
    return false;
  };
}
/// One of the words of `kTable`, an array of linux::Named.
template <const auto& kTable>
constexpr auto word_of(std::string_view what) {
  return word(
      what, [](std::string_view name) { return linux::value_of(kTable, name); },
      [] { return linux::names_of(kTable); });
}
/// A list whose elements `reader` turns into bits; the result is their bitwise or.
template <typename Reader>
constexpr auto flags_of(Reader reader) {
  return [reader](Value at, auto& out) {
    if (!at.expect_list()) return false;
    bool good = true;
    for (const Value item : at) {
      std::remove_reference_t<decltype(out)> bit{};
      good &= reader(item, bit);
      out |= bit;
    }
    return good;
  };
}

}  // namespace ocirun::bundle
