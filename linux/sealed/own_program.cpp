#include "linux/sealed/own_program.hpp"

#include <fcntl.h>

#include <algorithm>
#include <vector>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/sealed/executable.hpp"

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

std::string error_lines(const Error& error) {
  std::string text = fmt::format("{}", error.number());
  for (std::string frame : error.frames()) {
    std::ranges::replace(frame, '\n', ' ');
    text += "\n" + frame;
  }
  return text;
}

Error parse_error_lines(std::string_view text, std::string_view what) {
  const int error = number<int>(cut(text, '\n')).value_or(0);
  std::vector<std::string> frames;
  while (!text.empty()) frames.emplace_back(cut(text, '\n'));
  if (frames.empty()) frames.emplace_back(what);
  return Error(error, std::move(frames));
}

}  // namespace ocirun::linux
