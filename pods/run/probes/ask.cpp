#include "pods/run/probes/ask.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <variant>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/confined/confine.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::pods {
namespace {

constexpr const char* kProgram = "ocirun-probe";
constexpr std::size_t kMostOutput = 256;  // bytes that are kept as the reason

/// The words of ocirun-probe; see probes/main.cpp.
Result<std::vector<std::string>> words_of(const Probe& probe,
                                          std::span<const std::string> command) {
  if (std::holds_alternative<ExecProbe>(probe.question))
    return std::vector<std::string>(command.begin(), command.end());
  OCIRUN_TRY_ASSIGN(std::string path, linux::find_own_program(kProgram));
  std::vector<std::string> words{std::move(path)};
  if (const auto* tcp = std::get_if<TcpProbe>(&probe.question)) {
    words.insert(words.end(), {"tcp", fmt::format("{}", tcp->port)});
    return words;
  }
  const auto& http = std::get<HttpProbe>(probe.question);
  words.insert(words.end(), {http.tls ? "https" : "http", fmt::format("{}", http.port), http.path});
  for (const HttpHeader& header : http.headers)
    words.push_back(fmt::format("{}: {}", header.name, header.value));
  return words;
}

/// What the process that asks gets from its parent.
struct Manner {
  int parent;          // the pid
  Fd network;          // -1: the caller's
  bool asks_stranger;  // a server that may be hostile, not the runtime
};

/// In this namespace, an attacker who has taken ocirun-probe over sees no other process.
constexpr std::uint64_t kNamespaces = CLONE_NEWPID | CLONE_NEWIPC;

/// Makes the process that asks. If it may not make namespaces, the other confinements must suffice.
Result<linux::Child> make_process(std::uint64_t namespaces) {
  auto child = linux::clone_process(namespaces, Fd{-1}, linux::Parentage::kMine);
  if (child || namespaces == 0 || !linux::are_namespaces_refused(child.error())) return child;
  return linux::clone_process(0, Fd{-1}, linux::Parentage::kMine);
}

/// What the process that asks does. Never returns. ocirun-probe drops its privileges itself when
/// its libraries are loaded. It gets nothing of the caller's environment.
[[noreturn]] void become(const std::vector<std::string>& words, const Manner& manner, Fd output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // In a pid namespace of its own a process cannot ask for its parent; ocirun-probe asks its pipe.
  if (!manner.asks_stranger && ::getppid() != manner.parent) ::_exit(1);
  ::setsid();
  ::dup2(output.value, STDOUT_FILENO);
  ::dup2(output.value, STDERR_FILENO);
  const auto fail_with = [&](std::string_view what, const std::string& why) {
    ignore(linux::write_all(Fd{STDERR_FILENO}, fmt::format("{}: {}", what, why)));
    ::_exit(1);
  };
  if (manner.network.value >= 0 && ::setns(manner.network.value, CLONE_NEWNET) != 0)
    fail_with("enter the pod's network", errno_text(errno));
  const auto nothing = linux::open_verified_null();
  if (!nothing) fail_with("open the null device", nothing.error().message());
  ::dup2(nothing->get(), STDIN_FILENO);
  linux::reset_signals();
  linux::close_descriptors_from(STDERR_FILENO + 1);
  const linux::ExecArguments exec(words, {});
  ::execve(exec.argv()[0], exec.argv(), manner.asks_stranger ? exec.envp() : environ);
  fail_with(words.front(), errno_text(errno));
  ::_exit(1);
}

}  // namespace

Result<Asked> ask(const Probe& probe, Fd network, std::span<const std::string> command) {
  OCIRUN_TRY_ASSIGN(const std::vector<std::string> words, words_of(probe, command));
  const bool is_exec = std::holds_alternative<ExecProbe>(probe.question);
  OCIRUN_TRY_ASSIGN(linux::Pipe output, linux::make_pipe());
  OCIRUN_TRY(within(linux::set_nonblocking(output.reader), "set up the probe's output"));
  const int parent = ::getpid();
  OCIRUN_TRY_ASSIGN(linux::Child child, make_process(is_exec ? 0 : kNamespaces));
  if (child.pid == 0)
    become(words,
           {.parent = parent, .network = is_exec ? Fd{-1} : network, .asks_stranger = !is_exec},
           output.writer);
  return Asked{.child = std::move(child),
               .output = std::move(output.reader),
               .text = {},
               .pace = linux::OutputPace()};
}

namespace {

/// Reads one piece of the output. Returns whether there was one.
bool read_piece(Asked& asked) {
  std::array<char, 4096> piece;
  const ssize_t count = ::read(asked.output.get(), piece.data(), piece.size());
  if (count == 0) asked.output.reset();  // nobody can write any more
  if (count <= 0) return false;
  const std::size_t room = kMostOutput - asked.text.size();
  asked.text.append(piece.data(), std::min(static_cast<std::size_t>(count), room));
  return true;
}

}  // namespace

void hear(Asked& asked) {
  if (asked.pace.rests(linux::OutputPace::Clock::now())) return;
  asked.pace.begin();
  if (!read_piece(asked)) return;
  while (asked.pace.has_time_left() && read_piece(asked)) {
  }
  asked.pace.end();
}

Answer take_answer(Asked& asked) {
  read_piece(asked);  // also during a rest: the program may have written why it fails
  const auto status = linux::wait_for_child(asked.child.pid);
  asked.child.pid = 0;
  if (!status) return {.is_success = false, .reason = status.error().message()};
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {.is_success = true, .reason = ""};
  const auto lines = linux::words(asked.text, '\n');
  if (!lines.empty()) return {.is_success = false, .reason = std::string(lines.front())};
  return {.is_success = false, .reason = linux::describe_end(*status)};
}

void abandon(const Asked& asked) {
  if (asked.child.pid > 0) ::kill(asked.child.pid, SIGKILL);
}

}  // namespace ocirun::pods
