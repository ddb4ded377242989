#pragma once

// Readers: callables (Value, T&) -> bool that check a value and turn it into what the kernel takes.
// What is wrong goes into the Report, and reading goes on; false says that something was.

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
#include "linux/base/number_set.hpp"

namespace ocirun::bundle {

bool flag(Value at, bool& out);
/// Any string without NUL: a path, argument or option would end there for the kernel (D-8).
bool text(Value at, std::string& out);
bool nonempty_text(Value at, std::string& out);
/// "NAME=value" with a name (P-5).
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

/// An integer literal between the bounds; nothing, and a problem, for everything else (D-7).
std::optional<std::int64_t> signed_number(Value at, std::int64_t least, std::int64_t most);
std::optional<std::uint64_t> unsigned_number(Value at, std::uint64_t least, std::uint64_t most);

/// A whole number from `least` to `most`, both included; by default all that the member can hold.
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

/// A user or group id: 2^32-1 cannot be one (P-19).
template <typename Tag>
bool id(Value at, Id<Tag>& out) {
  const auto value = unsigned_number(at, 0, Id<Tag>::kUnchanged - 1);
  if (value) out = *Id<Tag>::make(*value);
  return value.has_value();
}
/// Numbers and ranges such as "0-3,7", of CPUs or memory nodes.
bool number_set(Value at, linux::NumberSet& out);
bool uid(Value at, Uid& out);
bool gid(Value at, Gid& out);

/// A list; elements that are wrong keep their place, so that indices stay those of the document.
template <typename Reader>
constexpr auto list_of(Reader reader) {
  return [reader](Value at, auto& out) {
    if (!at.expect_list()) return false;
    bool good = true;
    for (const Value item : at) good &= reader(item, out.emplace_back());
    return good;
  };
}
inline constexpr auto texts = list_of(text);

/// The sentence for a word that is none of `known`: `unknown action "X" (did you mean Y?)`, or the
/// whole list when nothing is near.
void unknown_word(Value at, std::string_view what, std::span<const std::string_view> known);
/// A warning that the object has no member of this name: `unknown name, ignored (did you mean X?)`.
void unknown_name(Value at, std::span<const std::string_view> known);

/// A word of an enumeration: `lookup` turns it into the value, `names` lists the allowed ones.
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
/// A list of words that are or-ed together.
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
