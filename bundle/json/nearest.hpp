#pragma once

#include <span>
#include <string_view>

namespace ocirun::bundle {

/// The word of `known` that is the fewest typing mistakes away from `word`; "" if all are so far
/// away that the best would be a guess.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace ocirun::bundle
