#pragma once

#include <algorithm>
#include <string_view>

#include "linux/base/text.hpp"

namespace ocirun::cgroups {

// What reads the kernel's files in every line speaks these without a prefix.
using linux::number;
using linux::split;
using linux::words;

template <typename Range, typename Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

/// A name in a line "NAME VALUE": a blank in it would change the line's meaning.
inline bool is_one_word(std::string_view name) {
  return !name.empty() && std::ranges::none_of(name, [](char c) { return c >= 0 && c <= ' '; });
}

}  // namespace ocirun::cgroups
