#include "linux/checkpoint/ask_criu.hpp"

#include <unistd.h>

#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/spawn.hpp"

namespace ocirun::linux {

Result<ProgramEnd> ask_criu(const std::string& program, std::vector<std::string> words) {
  constexpr std::size_t kKept = 64 * 1024;
  words.insert(words.begin(), program);
  const ExecArguments arguments(std::move(words), {});
  TRY_ASSIGN(const UniqueFd null, open_verified_null());
  TRY_ASSIGN(Pipe output, make_pipe());
  TRY_ASSIGN(Child child, spawn(program.c_str(), arguments, environ,
                                {Fd(null), Fd(output.writer), Fd(output.writer)}));
  output.writer.reset();
  return await_program(std::move(child), output.reader, kKept, program);
}

}  // namespace ocirun::linux
