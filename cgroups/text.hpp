#pragma once

#include "linux/text.hpp"

namespace ocirun::cgroups {

// What reads the kernel's files in every line speaks these without a prefix.
using linux::number;
using linux::split;
using linux::words;

template <typename Range, typename Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

}  // namespace ocirun::cgroups
