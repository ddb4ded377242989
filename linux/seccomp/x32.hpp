#pragma once

#include <cstdint>

namespace ocirun::linux {

/// x32 has the architecture token of x86-64, and this bit in its system call numbers.
inline constexpr std::uint32_t kX32Bit = 0x40000000;

}  // namespace ocirun::linux
