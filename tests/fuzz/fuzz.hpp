#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

// The function that each target defines. libFuzzer calls it with one input after another; it
// returns 0.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace ocirun::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Aborts if `holds` is false; libFuzzer then saves the input as a finding.
inline void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace ocirun::fuzz
