#include "linux/base/memory_reserve.hpp"

#include <memory>

namespace ocirun::linux {
namespace {

// Enough memory to undo `ocirun create`: paths, cgroups, a message, the error and its frames. The
// size is above the mmap threshold of malloc(3), so free(3) returns the reserve to the kernel.
// Pages that are never touched cost nothing.
constexpr std::size_t kReserve = 256 * 1024;

// Global, because the new handler that frees the reserve is global.
std::unique_ptr<char[]> reserve;

void give_reserve_back() {
  // Of several threads that run out of memory at once, the first one frees the reserve.
  if (std::set_new_handler(nullptr) != nullptr) reserve.reset();
  throw std::bad_alloc();
}

}  // namespace

void reserve_memory() {
  reserve = std::make_unique_for_overwrite<char[]>(kReserve);
  std::set_new_handler(give_reserve_back);
}

}  // namespace ocirun::linux
