#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// One row of a table that maps names in config.json or on a command line to values, such as the
/// kernel's numbers. The tables are constexpr arrays, so that no constructor runs at start-up.
template <typename T>
struct Named {
  std::string_view name;
  T value;
};

template <typename T, std::size_t N>
constexpr std::optional<T> value_of(const Named<T> (&table)[N], std::string_view name) {
  for (const Named<T>& row : table)
    if (row.name == name) return row.value;
  return std::nullopt;
}

/// The name of `value`; "" if the table lacks the value.
template <typename T, std::size_t N>
constexpr std::string_view name_of(const Named<T> (&table)[N], T value) {
  for (const Named<T>& row : table)
    if (row.value == value) return row.name;
  return {};
}

template <typename T, std::size_t N>
std::vector<std::string_view> names_of(const Named<T> (&table)[N]) {
  std::vector<std::string_view> names;
  names.reserve(N);
  for (const Named<T>& row : table) names.push_back(row.name);
  return names;
}

/// Accepts "TERM", "SIGTERM", "sigterm", "15", "RTMIN+3", "RTMAX-1". 0 only tests whether the
/// process exists. Errors say what is allowed.
Result<int> parse_signal(std::string_view text);
/// "HUP", "INT" … by number, and "RTMIN", "RTMAX". parse_signal() accepts each of them.
std::vector<std::string_view> signal_names();

}  // namespace ocirun::linux
