#include "linux/base/memory_reserve.hpp"

#include <memory>

namespace ocirun::linux {
namespace {

// For undoing a create: paths, cgroups, a message, the error and its frames. More than malloc(3)
// takes from its heap, so that it goes back to the kernel; untouched pages cost nothing.
constexpr std::size_t kReserve = 256 * 1024;

// The allocator is global by nature.
std::unique_ptr<char[]> reserve;

void give_reserve_back() {
  std::set_new_handler(nullptr);
  reserve.reset();
  throw std::bad_alloc();
}

}  // namespace

void reserve_memory() {
  reserve = std::make_unique_for_overwrite<char[]>(kReserve);
  std::set_new_handler(give_reserve_back);
}

}  // namespace ocirun::linux
