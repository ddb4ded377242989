#include "linux/error.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>

namespace ocirun {

std::string errno_text(int number) {
  const char* text = ::strerrordesc_np(number);
  if (text == nullptr) return fmt::format("error {}", number);
  std::string lower = text;
  lower[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(lower[0])));
  return lower;
}

bool is_shortage(int number) {
  return number == ENOMEM || number == EMFILE || number == ENFILE || number == EINTR ||
         number == EIO;
}

struct Error::Body {
  int number;
  std::vector<std::string> frames;
};

Error::Error(int number, std::string frame) : body_(new Body{number, {}}) {
  body_->frames.push_back(std::move(frame));
}
Error::Error(int number, std::vector<std::string> frames)
    : body_(new Body{number, std::move(frames)}) {}
Error::Error(const Error& other) : body_(new Body(*other.body_)) {}
Error::Error(Error&& other) noexcept = default;
Error& Error::operator=(Error other) noexcept {
  body_ = std::move(other.body_);
  return *this;
}
Error::~Error() = default;

int Error::number() const { return body_->number; }
const std::vector<std::string>& Error::frames() const { return body_->frames; }

Error& Error::within(std::string frame) {
  body_->frames.insert(body_->frames.begin(), std::move(frame));
  return *this;
}

std::string Error::message() const {
  std::string text;
  for (const std::string& frame : body_->frames) {
    if (!text.empty()) text += ": ";
    text += frame;
  }
  if (number() != 0) text += ": " + errno_text(number());
  return text;
}

std::unexpected<Error> detail::vfail(int number, fmt::string_view format, fmt::format_args args) {
  return std::unexpected(Error(number, fmt::vformat(format, args)));
}

}  // namespace ocirun
