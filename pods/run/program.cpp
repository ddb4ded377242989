#include "pods/run/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
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
[[noreturn]] void become(std::span<const std::string> arguments, const Streams& streams,
                         int parent) {
  // A runtime that goes on after its caller was killed would make a container that nobody removes.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotExecute);  // the parent has died before
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
  const linux::ExecArguments exec(std::move(words), {});
  ::execve(exec.argv()[0], exec.argv(), environ);
  static_cast<void>(linux::write_all(
      Fd{STDERR_FILENO}, fmt::format("{}: {}\n", arguments.front(), errno_text(errno))));
  ::_exit(kCannotExecute);
}

/// Reads what is there, keeps the first bytes, and returns whether more may come.
bool read_some(Fd stream, std::string& text) {
  std::array<char, 4096> piece;
  const ssize_t count = ::read(stream.value, piece.data(), piece.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  text.append(piece.data(), std::min(static_cast<std::size_t>(count), kMostError - text.size()));
  return count != 0;
}

/// Reads to the end of the stream, or until `deadline`.
std::string read_text(Fd stream, std::chrono::steady_clock::time_point deadline) {
  std::string text;
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd watched{stream.value, POLLIN, 0};
    if (left.count() <= 0 || ::poll(&watched, 1, static_cast<int>(left.count())) == 0) break;
    if (!read_some(stream, text)) break;
  }
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

Result<linux::Child> start_program(std::span<const std::string> arguments, const Streams& streams) {
  const int parent = ::getpid();
  TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
  if (child.pid == 0) become(arguments, streams, parent);
  return child;
}

Result<int> end_of(linux::Child& child) {
  if (const auto status = linux::collect_child(child, kProgramPatience)) return *status;
  linux::kill_child(child);
  return refuse("did not end within {} s, and was killed", kProgramPatience.count());
}

Result<void> run_program(std::span<const std::string> arguments) {
  TRY_ASSIGN(linux::Pipe errors, linux::make_pipe());
  TRY_ASSIGN(linux::Child child, start_program(arguments, {.out = Fd{-1}, .err = errors.writer}));
  errors.writer.reset();
  const auto deadline = std::chrono::steady_clock::now() + kProgramPatience;
  const std::string text = read_text(errors.reader, deadline);
  TRY_ASSIGN(const int status, end_of(child));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return refuse("{}{}{}", linux::describe_end(status), text.empty() ? "" : ": ", text);
}

}  // namespace ocirun::pods
