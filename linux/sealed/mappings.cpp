#include "linux/sealed/mappings.hpp"

#include <elf.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "linux/sealed/system_call.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // since Linux 5.14
#endif

// The linker's name for the ELF header, which the first mapping of the program begins with.
extern "C" [[gnu::visibility("hidden")]] const Elf64_Ehdr __ehdr_start;

namespace ocirun::linux {
namespace {

using Segment = Elf64_Phdr;

// The address at which the kernel has loaded the program. The compiler must not see where the value
// comes from: it would read sums with the value from a table, which is not relocated yet.
unsigned long load_address() {
  unsigned long base = reinterpret_cast<unsigned long>(&__ehdr_start);
  asm("" : "+r"(base));
  return base;
}

const Segment* first_segment() {
  return reinterpret_cast<const Segment*>(load_address() + __ehdr_start.e_phoff);
}
const Segment* end_of_segments() { return first_segment() + __ehdr_start.e_phnum; }

// Where a segment lies in memory. `begin` is rounded down to a page: x86-64 has pages of 4 KiB, and
// the linker aligns the segments of other processors to their largest page.
struct Range {
  unsigned long begin, end;
};
Range range_of(const Segment& segment) {
  const unsigned long start = load_address() + segment.p_vaddr;
  return {.begin = start & ~(segment.p_align - 1), .end = start + segment.p_filesz};
}

#if defined(__x86_64__)
int protection_of(const Segment& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

bool map_segment(long image, const Segment& segment) {
  const Range range = range_of(segment);
  const unsigned long offset = segment.p_offset & ~(segment.p_align - 1);
  if (system_call(SYS_mmap, static_cast<long>(range.begin),
                  static_cast<long>(range.end - range.begin), protection_of(segment),
                  MAP_PRIVATE | MAP_FIXED, image, static_cast<long>(offset)) < 0)
    return false;
  if ((segment.p_flags & PF_W) == 0) return true;
  // The static variables that begin as zero follow in the last page, where the file has other data.
  const unsigned long page_end = (range.end + segment.p_align - 1) & ~(segment.p_align - 1);
  for (auto* byte = reinterpret_cast<volatile char*>(range.end);
       byte != reinterpret_cast<volatile char*>(page_end); ++byte)
    *byte = 0;
  return true;
}

const char* end_of(const char* text) {
  while (*text != '\0') ++text;
  return text + 1;
}

unsigned long number(const void* pointer) { return reinterpret_cast<unsigned long>(pointer); }

// PR_SET_MM_MAP sets the file together with the addresses that the kernel knows of a process. The
// addresses are those that execve(2) has set.
prctl_mm_map describe_process(const long* stack) {
  const long argc = stack[0];
  const auto* const argv = reinterpret_cast<const char* const*>(stack + 1);
  const auto* const environment = argv + argc + 1;
  const char* const* last = environment;
  while (*last != nullptr) ++last;

  prctl_mm_map map{};
  for (const Segment* segment = first_segment(); segment != end_of_segments(); ++segment) {
    if (segment->p_type != PT_LOAD) continue;
    const Range range = range_of(*segment);
    if ((segment->p_flags & PF_X) != 0) map.start_code = range.begin, map.end_code = range.end;
    if ((segment->p_flags & PF_W) != 0) map.start_data = range.begin, map.end_data = range.end;
  }
  map.start_brk = map.brk = static_cast<unsigned long>(system_call(SYS_brk, 0));
  map.start_stack = number(stack);
  map.arg_start = number(argv[0]);
  map.arg_end = map.env_start = number(end_of(argv[argc - 1]));
  map.env_end = last == environment ? map.env_start : number(end_of(last[-1]));
  return map;
}
#endif

}  // namespace

bool map_image([[maybe_unused]] long image, [[maybe_unused]] const long* stack) {
#if defined(__x86_64__)
  for (const Segment* segment = first_segment(); segment != end_of_segments(); ++segment)
    if (segment->p_type == PT_LOAD && !map_segment(image, *segment)) return false;
  prctl_mm_map map = describe_process(stack);
  map.exe_fd = static_cast<unsigned>(image);
  // The kernel refuses with EBUSY while a mapping of the executable is left.
  return system_call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, address(&map), sizeof map) == 0;
#else
  return false;  // arm64: mmap(2) would have to repeat flags that execve(2) sets, such as PROT_BTI
#endif
}

void populate_data() {
  for (const Segment* segment = first_segment(); segment != end_of_segments(); ++segment) {
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) == 0) continue;
    const Range range = range_of(*segment);
    system_call(SYS_madvise, static_cast<long>(range.begin),
                static_cast<long>(range.end - range.begin), MADV_POPULATE_WRITE);
  }
}

}  // namespace ocirun::linux
