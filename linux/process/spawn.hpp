#pragma once

#include <sys/resource.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"

namespace ocirun::linux {

/// In what a program differs from its caller.
struct ProgramChanges {
  unsigned namespaces = 0;             // CLONE_NEW*: the kinds that are made for the program
  const rlimit* open_files = nullptr;  // the program's RLIMIT_NOFILE; nullptr: the caller's
};

/// Starts a program as a child of the caller, without a copy of the caller's memory (CLONE_VM,
/// CLONE_VFORK): unlike fork(2), this takes no longer when the caller has more memory. The program
/// has a session of its own, default signals, the open files `descriptors` as 0, 1, 2 and so on and
/// no others, and is killed when the caller dies. The caller must have a single thread. Errors:
/// those of clone(2) and execve(2); EBADF, EMFILE for a descriptor; ENOSYS for a pid namespace
/// before Linux 5.3; then there is no child.
Result<Child> spawn(const char* path, const ExecArguments& arguments, char* const environment[],
                    const std::vector<Fd>& descriptors, const ProgramChanges& changes = {});

/// How long a program that ocirun runs may write nothing before it is killed.
inline constexpr std::chrono::seconds kProgramSilence{10};

/// Ends a wait early: when `descriptor` becomes readable, `check` is called, and its error ends the
/// wait.
struct Interrupt {
  Fd descriptor;
  std::function<Result<void>()> check;
};

struct ProgramEnd {
  int status = 0;      // as waitpid(2) gives it
  std::string output;  // the first bytes of its output
};

/// Reads what `child` writes to the pipe `output`, keeps the first `kept` bytes, and waits for the
/// end of `child`. Kills a child that neither writes nor ends for kProgramSilence. Errors:
/// ETIMEDOUT (`name` did not end); the error of `interrupt`. In both cases the child was killed.
Result<ProgramEnd> await_program(Child child, Fd output, std::size_t kept, const std::string& name,
                                 const Interrupt& interrupt = {});

}  // namespace ocirun::linux
