#pragma once

// Images of memory, for tests that write images.

#include <cstdint>
#include <string>

#include "runtime/checkpoint/memory_areas.hpp"
#include "tests/runtime/checkpoint/image_text.hpp"

namespace ocirun::test {

// Flags of mmap(2), as criu writes them.
inline constexpr std::uint32_t kShared = 1, kPrivate = 2, kDroppable = 8, kAnonymous = 0x20,
                               kHuge = 0x40000;

/// An entry of the list of an mm-N.img.
inline std::string area(std::uint64_t start, std::uint64_t end, std::uint32_t status,
                        std::uint32_t flags, std::uint64_t object = 0) {
  return text(14, number(1, start) + number(2, end) + number(3, 0) + number(4, object) +
                      number(5, 3) + number(6, flags) + number(7, status) + number(8, 1));
}
/// Private memory of no file.
inline std::string memory(std::uint64_t start, std::uint64_t end) {
  return area(start, end, runtime::kRegularArea | runtime::kPrivateMemory, kPrivate | kAnonymous);
}
/// Areas of a usual program: the program, its stack, and the last area of x86_64, which criu does
/// not map.
inline std::string usual_memory() {
  return memory(0x555500000000, 0x555500010000) + memory(0x7FFC00000000, 0x7FFC00020000) +
         area(0xFFFFFFFFFF600000, 0xFFFFFFFFFF601000, 1U << 2, kPrivate | kAnonymous);
}

/// An entry of a pagemap-N.img.
inline std::string pages(std::uint64_t address, std::uint64_t count, std::uint32_t flags = 4) {
  return number(1, address) + number(2, count) + number(4, flags);
}

}  // namespace ocirun::test
