#include "linux/base/error.hpp"

#include <algorithm>
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

bool is_transient(int number) {
  return number == ENOMEM || number == EMFILE || number == ENFILE || number == EINTR ||
         number == EIO;
}

namespace {

// The path at the end of a frame: "/srv/x" in "open /srv/x" and in "/srv/x". "" where the last word
// is not an absolute path.
std::string_view path_at_end(std::string_view frame) {
  const std::size_t space = frame.rfind(' ');
  const std::string_view word = space == std::string_view::npos ? frame : frame.substr(space + 1);
  return word.starts_with('/') ? word : std::string_view();
}

}  // namespace

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
  std::vector<std::string_view> named;  // paths at the ends of the frames so far
  for (const std::string_view frame : body_->frames) {
    const std::string_view path = path_at_end(frame);
    const bool is_named = !path.empty() && std::ranges::find(named, path) != named.end();
    if (!path.empty()) named.push_back(path);
    std::string_view shown = frame.substr(0, frame.size() - (is_named ? path.size() : 0));
    if (is_named && shown.ends_with(' ')) shown.remove_suffix(1);
    if (shown.empty() && is_named) continue;
    if (!text.empty()) text += ": ";
    text += shown;
  }
  if (number() != 0) text += ": " + errno_text(number());
  return text;
}

std::unexpected<Error> detail::vfail(int number, fmt::string_view format, fmt::format_args args) {
  return std::unexpected(Error(number, fmt::vformat(format, args)));
}

}  // namespace ocirun
