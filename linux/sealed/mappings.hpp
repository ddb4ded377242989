#pragma once

// The mappings of the running program, for the code that runs before libc starts (entry.cpp).
namespace ocirun::linux {

/// Whether `image` begins as the running program does, with the ELF headers and the build-id.
bool is_of_this_program(long image);

#if defined(__x86_64__)
/// Puts the content of `image`, a copy of the running executable, in the place of the program's
/// mappings, and makes `image` the file behind /proc/PID/exe. Afterwards nothing of the process
/// refers to the executable: the effect of execveat(2) without its cost. The program must not be
/// relocated yet, and must not have written to its static data. `stack` is the initial stack of the
/// process. On `false` the program goes on as before, from either file. That happens without
/// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN in the user namespace, and on kernels without
/// CONFIG_CHECKPOINT_RESTORE.
bool map_image(long image, const long* stack);

/// Makes the pages of the program's static data present with one system call (Linux 5.14). The
/// relocations write to nearly all of these pages, and a page fault for each would take longer.
void populate_data();
#else
// arm64: mmap(2) would have to repeat what execve(2) adds to mappings (PROT_BTI), and the size of a
// page is not known here.
inline bool map_image(long, const long*) { return false; }
inline void populate_data() {}
#endif

}  // namespace ocirun::linux
