#pragma once

// The mappings of the running program, for the code that runs before libc starts (entry.cpp).
namespace ocirun::linux {

/// Puts the content of `image`, a copy of the running executable, in the place of the program's
/// mappings, and makes `image` the file behind /proc/PID/exe. Afterwards nothing of the process
/// refers to the executable: the effect of execveat(2) without its cost. The program must not be
/// relocated yet, and must not have written to its static data. `stack` is the initial stack of the
/// process. On `false` the program goes on as before, from either file. That happens without
/// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN in the user namespace, on kernels without
/// CONFIG_CHECKPOINT_RESTORE, and on processors other than x86-64.
bool map_image(long image, const long* stack);

/// Makes the pages of the program's static data present with one system call. The relocations write
/// to nearly all of these pages, and a page fault for each of them costs ten times as much.
void populate_data();

}  // namespace ocirun::linux
