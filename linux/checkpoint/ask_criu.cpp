#include "linux/checkpoint/ask_criu.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "linux/base/pipe.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"

namespace ocirun::linux {

Result<ProgramEnd> ask_criu(const std::string& program, std::vector<std::string> words) {
  constexpr std::size_t kKept = 64 * 1024;
  words.insert(words.begin(), program);
  const ExecArguments arguments(std::move(words), {});
  TRY_ASSIGN(Pipe output, make_pipe());
  TRY_ASSIGN(Child child, clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    reset_signals();
    if (::dup2(output.writer.get(), STDOUT_FILENO) >= 0 &&
        ::dup2(output.writer.get(), STDERR_FILENO) >= 0) {
      close_descriptors_from(STDERR_FILENO + 1);
      ::execve(arguments.argv()[0], arguments.argv(), environ);
    }
    ::_exit(127);
  }
  output.writer.reset();
  return await_program(std::move(child), output.reader, kKept, program);
}

}  // namespace ocirun::linux
