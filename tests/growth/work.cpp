#include "tests/growth/work.hpp"

#include <sanitizer/allocator_interface.h>

#include <cstddef>

namespace {

std::uint64_t comparisons = 0, bytes = 0;

void count_allocation(const volatile void* /*memory*/, std::size_t size) { bytes += size; }
void count_release(const volatile void* /*memory*/) {}

const int kHooks = ::__sanitizer_install_malloc_and_free_hooks(count_allocation, count_release);

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): clang's names for the callbacks of trace-cmp
extern "C" {
#define OCIRUN_COUNT(name, type)                                                         \
  __attribute__((visibility("default"))) void __sanitizer_cov_trace_##name(type, type) { \
    ++comparisons;                                                                       \
  }
OCIRUN_COUNT(cmp1, std::uint8_t)
OCIRUN_COUNT(cmp2, std::uint16_t)
OCIRUN_COUNT(cmp4, std::uint32_t)
OCIRUN_COUNT(cmp8, std::uint64_t)
OCIRUN_COUNT(const_cmp1, std::uint8_t)
OCIRUN_COUNT(const_cmp2, std::uint16_t)
OCIRUN_COUNT(const_cmp4, std::uint32_t)
OCIRUN_COUNT(const_cmp8, std::uint64_t)
#undef OCIRUN_COUNT
}
// NOLINTEND(bugprone-reserved-identifier)

namespace ocirun::test {

Work work_so_far() { return {.comparisons = comparisons, .bytes = bytes}; }

}  // namespace ocirun::test
