#pragma once

#include "linux/sealed/initial_stack.hpp"

// The mappings of the running program, for the code that runs before libc starts (entry.cpp).
namespace ocirun::linux {

/// Whether `image` begins as the running program does: the first segment is compared, at most 4
/// KiB. The first segment holds the ELF headers and the build-id, which the linker computes from
/// the whole program.
bool begins_as_this_program(long image);

#if defined(__x86_64__)
/// Puts the content of `image`, a copy of the running executable, in the place of the program's
/// mappings, and makes `image` the file behind /proc/PID/exe. Afterwards nothing of the process
/// refers to the executable: the effect of execveat(2) without its cost. The program must not be
/// relocated yet, and must not have written to its static data. argc is at least 1. On `false`,
/// /proc/PID/exe is still the executable, and the mappings may be of either file. The kernel
/// refuses if the process has neither CAP_CHECKPOINT_RESTORE nor CAP_SYS_ADMIN in its user
/// namespace, or if the kernel lacks CONFIG_CHECKPOINT_RESTORE.
bool map_image(long image, const InitialStack& stack);

/// Makes the pages of the program's initialized static data present with one system call (Linux
/// 5.14). The relocations write to nearly all of these pages, and a page fault for each would take
/// longer.
void populate_data();
#else
// arm64: mmap(2) would have to repeat what execve(2) adds to mappings (PROT_BTI), and the size of a
// page is not known here.
inline bool map_image(long, const InitialStack&) { return false; }
inline void populate_data() {}
#endif

}  // namespace ocirun::linux
