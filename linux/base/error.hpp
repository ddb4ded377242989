#pragma once

#include <fmt/core.h>

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ocirun {

/// An error: an errno (0 when it does not come from the kernel) and a sentence in frames, outermost
/// first. Callers add context as frames; the whole is printed once. The object has the size of one
/// pointer, because every Result has room for an Error and success should not pay for it.
class Error {
 public:
  Error(int number, std::string frame);
  Error(int number, std::vector<std::string> frames);
  Error(const Error& other);
  Error(Error&& other) noexcept;
  Error& operator=(Error other) noexcept;
  ~Error();

  int number() const;
  const std::vector<std::string>& frames() const;

  /// Adds an outer frame: "mount /data" in front of "open /srv/x".
  Error& within(std::string frame);

  /// "create web1: mount /data: open /srv/x: no such file or directory": the frames joined by ": ",
  /// with the errno's text last, in lower case, because tools of the ecosystem search for it so. A
  /// path at the end of a frame is left out if an earlier frame ends with the same path: "mount
  /// /data: open: …".
  std::string message() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

template <typename T = void>
using Result = std::expected<T, Error>;

namespace detail {
std::unexpected<Error> vfail(int number, fmt::string_view format, fmt::format_args args);
}  // namespace detail

/// An error of the kernel: `fail(ENOENT, "open {}", path)`.
template <typename... Args>
std::unexpected<Error> fail(int number, fmt::format_string<Args...> format, Args&&... args) {
  return detail::vfail(number, format, fmt::make_format_args(args...));
}

/// An error without an errno: a rule of ocirun or of the specification is broken.
template <typename... Args>
std::unexpected<Error> refuse(fmt::format_string<Args...> format, Args&&... args) {
  return detail::vfail(0, format, fmt::make_format_args(args...));
}

/// The kernel's text for `number`, first letter in lower case ("no such file or directory").
std::string errno_text(int number);

/// Whether the same call may succeed later: the process or the machine lacked a resource (ENOMEM,
/// EMFILE, ENFILE), or the call was disturbed (EINTR, EIO). Such an error says nothing about the
/// file that was looked at.
bool is_transient(int number);
/// Whether a lookup failed because the path does not exist or a part of it is not a directory.
template <typename T>
bool is_missing(const Result<T>& looked_up) {
  return !looked_up &&
         (looked_up.error().number() == ENOENT || looked_up.error().number() == ENOTDIR);
}

/// Says that `value`, such as a Result or the return value of a system call, is not looked at. A
/// Result that is neither looked at nor ignored does not compile in the asan build.
template <typename T>
void ignore(const T& value) {
  static_cast<void>(value);
}

/// Adds a frame to the error of `result`, if it holds one.
template <typename T>
Result<T> within(Result<T> result, std::string frame) {
  if (!result) result.error().within(std::move(frame));
  return result;
}
/// The frame is formatted only if `result` holds an error: `within(read(fd), "read {}", path)`. A
/// frame without arguments is the overload above.
template <typename T, typename Arg, typename... Args>
Result<T> within(Result<T> result, fmt::format_string<Arg, Args...> format, Arg&& arg,
                 Args&&... args) {
  if (!result) result.error().within(fmt::vformat(format, fmt::make_format_args(arg, args...)));
  return result;
}

}  // namespace ocirun

#define OCIRUN_JOIN_(a, b) a##b
#define OCIRUN_JOIN(a, b) OCIRUN_JOIN_(a, b)
#define OCIRUN_TRY_ASSIGN_(temporary, declaration, ...)   \
  auto temporary = (__VA_ARGS__);                         \
  if (!temporary) [[unlikely]]                            \
    return std::unexpected(std::move(temporary).error()); \
  declaration = *std::move(temporary)

/// Evaluates a Result; an error is returned from the calling function.
#define OCIRUN_TRY(...)                                            \
  do {                                                             \
    if (auto try_result = (__VA_ARGS__); !try_result) [[unlikely]] \
      return std::unexpected(std::move(try_result).error());       \
  } while (false)

/// OCIRUN_TRY_ASSIGN(const UniqueFd fd, open_it()): like OCIRUN_TRY, and assigns the value of the
/// Result.
#define OCIRUN_TRY_ASSIGN(declaration, ...) \
  OCIRUN_TRY_ASSIGN_(OCIRUN_JOIN(try_result_, __COUNTER__), declaration, __VA_ARGS__)
