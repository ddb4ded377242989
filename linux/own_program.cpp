#include "linux/own_program.hpp"

#include <fcntl.h>

#include "linux/sealed_exe.hpp"
#include "linux/syscalls.hpp"

namespace ocirun::linux {

Result<std::string> find_own_program(std::string_view name) {
  std::string beside = fmt::format("{}/{}", executable_directory(), name);
  if (sys::open(beside.c_str(), O_PATH | O_CLOEXEC)) return beside;
  std::string installed = fmt::format("{}/{}", OCIRUN_LIBEXEC_DIRECTORY, name);
  if (sys::open(installed.c_str(), O_PATH | O_CLOEXEC)) return installed;
  return refuse("{} is not there, nor is {}: install ocirun whole", beside, installed);
}

}  // namespace ocirun::linux
