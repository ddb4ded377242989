#pragma once

#include <vector>

#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"

namespace ocirun::linux {

/// Starts a program as a child of the caller, without a copy of the caller's memory (CLONE_VM,
/// CLONE_VFORK): the time does not grow with the caller, as that of fork(2) does. The program has a
/// session of its own, default signals, the open files `descriptors` as 0, 1, 2 and so on and no
/// others, and is killed when the caller dies. `namespaces`: CLONE_NEW* that the program gets new
/// ones of. The caller must have a single thread. Errors: those of clone(2) and execve(2); EBADF,
/// EMFILE for a descriptor; ENOSYS for a pid namespace before Linux 5.3; then there is no child.
Result<Child> spawn(const char* path, const ExecArguments& arguments, char* const environment[],
                    const std::vector<Fd>& descriptors, unsigned namespaces = 0);

}  // namespace ocirun::linux
