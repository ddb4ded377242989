#pragma once

#include <algorithm>
#include <string_view>

#include "linux/base/text.hpp"

namespace ocirun::cgroups {

// Short names for the helpers of linux/base/text.hpp, for code that parses cgroup files.
using linux::number;
using linux::split;
using linux::words;

template <typename Range, typename Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

/// Whether `name` can stand in a line "NAME VALUE", where a blank or a newline would change the
/// meaning.
inline bool is_one_word(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](unsigned char c) { return c <= ' '; });
}

}  // namespace ocirun::cgroups
