#include "linux/error.hpp"

#include <cctype>
#include <cstring>

namespace ocirun {

std::string errno_text(int number) {
  const char* text = ::strerrordesc_np(number);
  if (text == nullptr) return fmt::format("error {}", number);
  std::string lower = text;
  lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
  return lower;
}

std::string Error::message() const {
  std::string text;
  for (const std::string& frame : frames_) {
    if (!text.empty()) text += ": ";
    text += frame;
  }
  if (errno_ != 0) text += ": " + errno_text(errno_);
  return text;
}

std::unexpected<Error> detail::vfail(int number, fmt::string_view format, fmt::format_args args) {
  return std::unexpected(Error(number, fmt::vformat(format, args)));
}

}  // namespace ocirun
