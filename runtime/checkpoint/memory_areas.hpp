#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// A mapping of a process in the images.
struct MemoryArea {
  std::uint64_t start = 0, end = 0;  // addresses
  std::uint64_t object = 0;          // CRIU's number of the shared memory or the file
  std::uint32_t flags = 0;           // of mmap(2)
  std::uint32_t status = 0;          // CRIU's: AreaStatus

  bool is(std::uint32_t bit) const { return (status & bit) != 0; }
  std::uint64_t size() const { return end - start; }
};

/// Bits of MemoryArea::status.
enum AreaStatus : std::uint32_t {
  kRegularArea = 1U << 0,
  kStackArea = 1U << 1,
  kVdsoArea = 1U << 3,
  kHeapArea = 1U << 5,
  kPrivateFile = 1U << 6,
  kSharedFile = 1U << 7,
  kSharedMemory = 1U << 8,
  kPrivateMemory = 1U << 9,
  kSystemVMemory = 1U << 10,
  kSocketArea = 1U << 11,
  kAioRing = 1U << 13,
  kMemfdArea = 1U << 14,
  kGuardArea = 1U << 16
};

/// CRIU maps memory above no such address: no machine gives a process more than 56 bits.
inline constexpr std::uint64_t kMostAddress = std::uint64_t{1} << 56;

/// Reads `image`, an mm-N.img, and checks what CRIU takes for granted when it maps the memory. The
/// areas ascend, do not overlap, consist of whole pages and are as their flags say; rings of
/// asynchronous input and output lie on areas for them; one hole has at least `room` bytes, so that
/// CRIU finds it for its restorer, the code that maps the memory. Otherwise CRIU could map the
/// memory of forged images over its own code, which runs as root of the host. Errors: such an area;
/// the image is damaged.
Result<std::vector<MemoryArea>> read_memory_areas(std::string_view image, std::uint64_t room);

/// Whether one of `areas` holds the bytes from `address` on.
bool holds(std::span<const MemoryArea> areas, std::uint64_t address, std::uint64_t size);

}  // namespace ocirun::runtime
