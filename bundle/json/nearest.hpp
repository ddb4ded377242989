#pragma once

#include <span>
#include <string_view>

namespace ocirun::bundle {

/// The member of `known` that is few typing mistakes away from `word`; "" when none is.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

}  // namespace ocirun::bundle
