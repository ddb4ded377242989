#include "pods/run/program.hpp"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "linux/base/pipe.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/spawn.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kMostError = 65536;  // bytes of stderr that an error shows

/// Reads what is there, keeps the first bytes, and returns whether more may come.
bool read_some(Fd stream, std::string& text) {
  std::array<char, 4096> piece;
  const ssize_t count = ::read(stream.value, piece.data(), piece.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  text.append(piece.data(), std::min(static_cast<std::size_t>(count), kMostError - text.size()));
  return count != 0;
}

}  // namespace

Result<linux::Child> start_program(std::span<const std::string> arguments, const Streams& streams) {
  TRY_ASSIGN(const UniqueFd nothing, linux::open_verified_null());
  const auto given_or_nothing = [&](Fd given) { return given.value >= 0 ? given : Fd(nothing); };
  const linux::ExecArguments words({arguments.begin(), arguments.end()}, {});
  return linux::spawn(arguments.front().c_str(), words, environ,
                      {Fd(nothing), given_or_nothing(streams.out), given_or_nothing(streams.err)});
}

Result<int> end_of(linux::Child& child) {
  if (const auto status = linux::collect_child(child, kProgramPatience)) return *status;
  linux::kill_child(child);
  return refuse("did not end within {} s, and was killed", kProgramPatience.count());
}

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

Result<RunningProgram> begin_program(std::span<const std::string> arguments) {
  TRY_ASSIGN(linux::Pipe errors, linux::make_pipe());
  TRY_ASSIGN(linux::Child child, start_program(arguments, {.out = Fd{-1}, .err = errors.writer}));
  return RunningProgram{.child = std::move(child),
                        .errors = std::move(errors.reader),
                        .deadline = std::chrono::steady_clock::now() + kProgramPatience};
}

Result<void> end_program(RunningProgram& program) {
  const std::string text = read_text(program.errors, program.deadline);
  TRY_ASSIGN(const int status, end_of(program.child));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return refuse("{}{}{}", linux::describe_end(status), text.empty() ? "" : ": ", text);
}

Result<void> run_program(std::span<const std::string> arguments) {
  TRY_ASSIGN(RunningProgram program, begin_program(arguments));
  return end_program(program);
}

}  // namespace ocirun::pods
