#include "linux/own_program.hpp"

#include <fcntl.h>

#include <algorithm>
#include <charconv>
#include <vector>

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

std::string error_lines(const Error& error) {
  std::string text = fmt::format("{}", error.number());
  for (std::string frame : error.frames()) {
    std::ranges::replace(frame, '\n', ' ');
    text += "\n" + frame;
  }
  return text;
}

Error parse_error_lines(std::string_view text, std::string_view what) {
  int number = 0;
  std::vector<std::string> frames;
  std::string_view rest = text.substr(std::min(text.find('\n'), text.size()));
  std::from_chars(text.data(), text.data() + text.size(), number);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    frames.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  if (frames.empty()) frames.emplace_back(what);
  return Error(number, std::move(frames));
}

}  // namespace ocirun::linux
