#include <unistd.h>

#include "linux/process/exec.hpp"
#include "linux/sealed/executable.hpp"
#include "linux/sealed/own_program.hpp"
#include "runtime/cli/commands.hpp"

namespace ocirun::runtime::cli {

Error become_pod_program(std::span<const std::string> options,
                         std::span<const std::string> operands) {
  const auto path = linux::find_own_program("ocirun-pod");
  if (!path) return path.error();
  std::vector<std::string> words{"ocirun-pod", linux::executable_directory() + "/ocirun",
                                 fmt::format("{}", options.size())};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), operands.begin(), operands.end());
  const linux::ExecArguments arguments(words, {});
  ::execve(path->c_str(), arguments.argv(), environ);
  return Error(errno, fmt::format("execute {}", *path));
}

}  // namespace ocirun::runtime::cli
