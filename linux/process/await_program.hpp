#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"

namespace ocirun::linux {

/// How long a program that we run may say nothing.
inline constexpr std::chrono::seconds kProgramSilence{10};

/// What ends a wait before its time: `check` is asked once `descriptor` is readable.
struct Interrupt {
  Fd descriptor;
  std::function<Result<void>()> check;
};

struct ProgramEnd {
  int status = 0;      // as waitpid(2) gives it
  std::string output;  // its first bytes
};

/// Reads what `child` writes to the pipe `output` and collects it; the first `kept` bytes are kept.
/// It is killed after kProgramSilence without a byte and without its end. Errors: ETIMEDOUT, `name`
/// did not end; the interrupt's, and then it was killed too.
Result<ProgramEnd> await_program(Child child, Fd output, std::size_t kept, const std::string& name,
                                 const Interrupt& interrupt = {});

}  // namespace ocirun::linux
