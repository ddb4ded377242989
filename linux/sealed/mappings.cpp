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
extern "C" [[gnu::visibility("hidden")]] char elf_header[] asm("__ehdr_start");

namespace ocirun::linux {
namespace {

using Segment = Elf64_Phdr;

// The address at which the kernel has loaded the program. The compiler must not see where the value
// comes from: it would read sums with the value from a table, which is not relocated yet.
char* load_address() {
  char* base = elf_header;
  asm("" : "+r"(base));
  return base;
}

const Elf64_Ehdr& header() { return *reinterpret_cast<const Elf64_Ehdr*>(load_address()); }
const Segment* first_segment() {
  return reinterpret_cast<const Segment*>(load_address() + header().e_phoff);
}

}  // namespace

bool begins_as_this_program(long image) {
  const Segment* first = first_segment();
  while (first->p_type != PT_LOAD) ++first;
  char there[4096];
  const unsigned long size = first->p_filesz < sizeof there ? first->p_filesz : sizeof there;
  if (system_call(SYS_pread64, image, address(there), static_cast<long>(size), 0) !=
      static_cast<long>(size))
    return false;
  const char* const here = load_address();
  for (unsigned long i = 0; i < size; ++i)
    if (there[i] != here[i]) return false;
  return true;
}

#if defined(__x86_64__)
namespace {

constexpr unsigned long kPage = 4096;

unsigned long number(const volatile void* pointer) {
  return reinterpret_cast<unsigned long>(pointer);
}

const Segment* end_of_segments() { return first_segment() + header().e_phnum; }
char* start_of(const Segment& segment) { return load_address() + segment.p_vaddr; }
// The end of the part that comes from the file. The memory of the segment behind it is zero.
char* end_of_file_part(const Segment& segment) { return start_of(segment) + segment.p_filesz; }
// The distance of the segment from the beginning of its first page.
unsigned long inset_of(const Segment& segment) { return number(start_of(segment)) % kPage; }

int protection_of(const Segment& segment) {
  return ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) |
         ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
         ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
}

bool map_segment(long image, const Segment& segment) {
  const unsigned long inset = inset_of(segment);
  if (system_call(SYS_mmap, address(start_of(segment) - inset),
                  static_cast<long>(inset + segment.p_filesz), protection_of(segment),
                  MAP_PRIVATE | MAP_FIXED, image, static_cast<long>(segment.p_offset - inset)) < 0)
    return false;
  if ((segment.p_flags & PF_W) == 0) return true;
  // The static variables that begin as zero follow in the last page, where the file has other data.
  for (volatile char* byte = end_of_file_part(segment); number(byte) % kPage != 0; ++byte)
    *byte = 0;
  return true;
}

const char* after_nul(const char* text) {
  while (*text != '\0') ++text;
  return text + 1;
}

// PR_SET_MM_MAP changes the file behind /proc/PID/exe. The call must also give all addresses that
// the kernel keeps of the process: this function returns the ones that execve(2) has set.
prctl_mm_map describe_process(const InitialStack& stack) {
  const char* const* last = stack.environment;
  while (*last != nullptr) ++last;

  prctl_mm_map map{};
  for (const Segment* segment = first_segment(); segment != end_of_segments(); ++segment) {
    if (segment->p_type != PT_LOAD) continue;
    if ((segment->p_flags & PF_X) != 0)
      map.start_code = number(start_of(*segment)),
      map.end_code = number(end_of_file_part(*segment));
    if ((segment->p_flags & PF_W) != 0)
      map.start_data = number(start_of(*segment)),
      map.end_data = number(end_of_file_part(*segment));
  }
  map.start_brk = map.brk = static_cast<unsigned long>(system_call(SYS_brk, 0));
  map.start_stack = number(stack.top);
  map.arg_start = number(stack.argv[0]);
  map.arg_end = map.env_start = number(after_nul(stack.argv[stack.argc - 1]));
  map.env_end = last == stack.environment ? map.env_start : number(after_nul(last[-1]));
  return map;
}

}  // namespace

bool map_image(long image, const InitialStack& stack) {
  for (const Segment* segment = first_segment(); segment != end_of_segments(); ++segment)
    if (segment->p_type == PT_LOAD && !map_segment(image, *segment)) return false;
  prctl_mm_map map = describe_process(stack);
  map.exe_fd = static_cast<unsigned>(image);
  // The kernel changes the executable of a process only if no mapping of the old executable is left
  // (EBUSY; on an overlay the kernel does not look). So the loop above has replaced all mappings.
  return system_call(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, address(&map), sizeof map) == 0;
}

void populate_data() {
  for (const Segment* segment = first_segment(); segment != end_of_segments(); ++segment) {
    if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) == 0) continue;
    const unsigned long inset = inset_of(*segment);
    system_call(SYS_madvise, address(start_of(*segment) - inset),
                static_cast<long>(inset + segment->p_filesz), MADV_POPULATE_WRITE);
  }
}
#endif

}  // namespace ocirun::linux
