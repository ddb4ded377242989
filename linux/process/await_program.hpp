#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"

namespace ocirun::linux {

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

/// Reads what `child` writes to the pipe `output`, keeps the first `kept` bytes, and waits for its
/// end. The child is killed after kProgramSilence without a byte and without its end. Errors:
/// ETIMEDOUT: `name` did not end; that of `interrupt`, and then the child was killed too.
Result<ProgramEnd> await_program(Child child, Fd output, std::size_t kept, const std::string& name,
                                 const Interrupt& interrupt = {});

}  // namespace ocirun::linux
