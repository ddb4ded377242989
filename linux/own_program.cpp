#include "linux/own_program.hpp"

#include <fcntl.h>

#include "linux/sealed_exe.hpp"
#include "linux/syscalls.hpp"

namespace ocirun::linux {

Result<std::string> find_own_program(std::string_view name) {
  const std::string beside = executable_directory();
  for (const std::string& directory :
       {beside, beside + "/../libexec/ocirun", std::string(OCIRUN_LIBEXEC_DIRECTORY)}) {
    std::string path = fmt::format("{}/{}", directory, name);
    if (sys::open(path.c_str(), O_PATH | O_CLOEXEC)) return path;
  }
  return refuse("{0} is in none of {1}, {1}/../libexec/ocirun and {2}: install ocirun whole", name,
                beside, OCIRUN_LIBEXEC_DIRECTORY);
}

}  // namespace ocirun::linux
