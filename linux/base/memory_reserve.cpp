#include "linux/base/memory_reserve.hpp"

#include <memory>

namespace ocirun::linux {
namespace {

// Enough to undo a create: paths, cgroups, a message, the error and its frames. Larger than what
// malloc(3) takes from its heap, so that freeing the reserve returns it to the kernel. Pages that
// are never touched cost nothing.
constexpr std::size_t kReserve = 256 * 1024;

// Global, because the allocator that uses it is global.
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
