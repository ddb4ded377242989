#include "pods/run/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/pipe.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/exec.hpp"

namespace ocirun::pods {
namespace {

constexpr int kCannotExecute = 127;
constexpr std::size_t kMostError = 65536;  // bytes of stderr that an error shows

/// The part of the new process. Never returns.
[[noreturn]] void become(std::span<const std::string> arguments, const Streams& streams) {
  ::setsid();
  const auto nothing = linux::open_verified_null();
  const auto use = [&](Fd given, int number) {
    ::dup2(given.value >= 0 ? given.value : nothing ? nothing->get() : -1, number);
  };
  use(Fd{-1}, STDIN_FILENO);
  use(streams.out, STDOUT_FILENO);
  use(streams.err, STDERR_FILENO);
  linux::reset_signals();
  linux::close_descriptors_from(STDERR_FILENO + 1);
  std::vector<std::string> words(arguments.begin(), arguments.end());
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const linux::ExecArguments exec(std::move(words), std::move(environment));
  ::execve(exec.argv()[0], exec.argv(), exec.envp());
  static_cast<void>(linux::write_all(
      Fd{STDERR_FILENO}, fmt::format("{}: {}\n", arguments.front(), errno_text(errno))));
  ::_exit(kCannotExecute);
}

/// Reads to the end of the stream, and keeps the first bytes.
std::string read_text(Fd stream) {
  std::string text(kMostError, '\0');
  std::size_t size = 0;
  char rest[4096];
  for (;;) {
    const bool is_full = size == text.size();
    const ssize_t count = is_full ? ::read(stream.value, rest, sizeof rest)
                                  : ::read(stream.value, text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (!is_full) size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

Result<linux::Child> start_program(std::span<const std::string> arguments, const Streams& streams) {
  TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
  if (child.pid == 0) become(arguments, streams);
  return child;
}

Result<void> run_program(std::span<const std::string> arguments) {
  TRY_ASSIGN(linux::Pipe errors, linux::make_pipe());
  TRY_ASSIGN(const linux::Child child,
             start_program(arguments, {.out = Fd{-1}, .err = errors.writer}));
  errors.writer.reset();
  const std::string text = read_text(errors.reader);
  TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return refuse("{}{}{}", linux::describe_end(status), text.empty() ? "" : ": ", text);
}

}  // namespace ocirun::pods
