#include "linux/programs/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/spawn.hpp"

namespace ocirun::linux {
namespace {

constexpr int kCannotExecute = 127;
constexpr std::size_t kMostError = 65536;  // bytes of stderr that an error shows

/// Ends the new process of start_recorded_program(), whose stderr gets the reason.
[[noreturn]] void fall(std::string_view reason) {
  ignore(write_all(Fd{STDERR_FILENO}, fmt::format("{}\n", reason)));
  ::_exit(kCannotExecute);
}

/// What the new process of start_recorded_program() does. Never returns.
[[noreturn]] void become(std::span<const std::string> arguments, const Streams& streams,
                         const std::function<Result<void>()>& prepare) {
  ::setsid();
  const auto nothing = open_verified_null();
  const auto use = [&](Fd given, int number) {
    ::dup2(given.value >= 0 ? given.value : nothing ? nothing->get() : -1, number);
  };
  use(Fd{-1}, STDIN_FILENO);
  use(streams.out, STDOUT_FILENO);
  use(streams.err, STDERR_FILENO);
  reset_signals();
  if (prepare)
    if (const auto prepared = prepare(); !prepared) fall(prepared.error().message());
  close_descriptors_from(STDERR_FILENO + 1);
  const ExecArguments exec({arguments.begin(), arguments.end()}, {});
  ::execve(exec.argv()[0], exec.argv(), environ);
  fall(fmt::format("{}: {}", arguments.front(), errno_text(errno)));
}

/// Reads the present bytes, and appends them to `text` up to kMostError bytes. Returns whether more
/// may come.
bool read_some(Fd stream, std::string& text) {
  std::array<char, 4096> piece;
  const ssize_t count = ::read(stream.value, piece.data(), piece.size());
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  text.append(piece.data(), std::min(static_cast<std::size_t>(count), kMostError - text.size()));
  return count != 0;
}

}  // namespace

std::string find_program(std::string_view name) {
  constexpr std::string_view kForRoot = "/usr/local/sbin:/usr/sbin:/sbin";
  const char* path = std::getenv("PATH");
  const std::string places =
      fmt::format("{}:{}", path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path, kForRoot);
  for (const std::string_view place : words(places, ':')) {
    if (!place.starts_with('/')) continue;
    std::string candidate = fmt::format("{}/{}", place, name);
    if (sys::open(candidate.c_str(), O_PATH)) return candidate;
  }
  return "";
}

Result<Child> start_program(std::span<const std::string> arguments, const Streams& streams) {
  OCIRUN_TRY_ASSIGN(const UniqueFd nothing, open_verified_null());
  const auto given_or_nothing = [&](Fd given) { return given.value >= 0 ? given : Fd(nothing); };
  const ExecArguments words({arguments.begin(), arguments.end()}, {});
  return spawn(arguments.front().c_str(), words, environ,
               {Fd(nothing), given_or_nothing(streams.out), given_or_nothing(streams.err)});
}

Result<Child> start_recorded_program(
    std::span<const std::string> arguments, const Streams& streams,
    const std::function<Result<void>(const ProcessIdentity&)>& record,
    const std::function<Result<void>()>& prepare) {
  OCIRUN_TRY_ASSIGN(Pipe go, make_pipe());
  OCIRUN_TRY_ASSIGN(Child child, clone_process(0, Fd{-1}, Parentage::kMine));
  if (child.pid == 0) {
    go.writer.reset();
    const auto word = sys::read_all(go.reader, 1);
    if (!word || word->empty()) ::_exit(kCannotExecute);  // the caller was killed, or gave up
    become(arguments, streams, prepare);
  }
  go.reader.reset();
  const auto recorded = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const ProcessIdentity identity, identify_process(child.pid));
    OCIRUN_TRY(record(identity));
    return sys::write_once(go.writer, "1");
  }();
  if (recorded) return child;
  kill_child(child);
  return std::unexpected(recorded.error());
}

Result<int> end_of(Child& child, std::chrono::milliseconds patience) {
  if (const auto status = collect_child(child, patience)) return *status;
  kill_child(child);
  return refuse("did not end in time, and was killed");
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

Result<void> run_program(std::span<const std::string> arguments, std::chrono::seconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  OCIRUN_TRY_ASSIGN(Pipe errors, make_pipe());
  OCIRUN_TRY_ASSIGN(Child child, start_program(arguments, {.out = Fd{-1}, .err = errors.writer}));
  errors.writer.reset();
  const std::string text = read_text(errors.reader, deadline);
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  const auto status = end_of(child, std::max(left, std::chrono::milliseconds(0)));
  if (!status) return refuse("did not end within {} s, and was killed", patience.count());
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {};
  return refuse("{}{}{}", describe_end(*status), text.empty() ? "" : ": ", text);
}

Result<int> read_pid_file(const std::string& path) {
  constexpr std::size_t kMostBytes = 32;
  auto read = [&]() -> Result<int> {
    OCIRUN_TRY_ASSIGN(const UniqueFd file, sys::open(path.c_str(), O_RDONLY | O_NOFOLLOW));
    OCIRUN_TRY_ASSIGN(const std::string text, sys::read_all(file, kMostBytes));
    const auto pid = number<int>(std::string_view(text).substr(0, text.find('\n')));
    if (!pid || *pid <= 1) return refuse("has no pid");
    return *pid;
  }();
  return within(std::move(read), path);
}

}  // namespace ocirun::linux
