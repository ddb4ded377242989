#include "pods/probes/ask.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <variant>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/pipe.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::pods {
namespace {

constexpr const char* kProgram = "ocirun-probe";
constexpr std::size_t kMostOutput = 4096;  // bytes that are kept as the reason

/// The words of ocirun-probe; see probes/main.cpp.
Result<std::vector<std::string>> words_of(const Probe& probe,
                                          std::span<const std::string> command) {
  if (std::holds_alternative<ExecProbe>(probe.question))
    return std::vector<std::string>(command.begin(), command.end());
  TRY_ASSIGN(std::string path, linux::find_own_program(kProgram));
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

/// The part of the process that asks. Never returns.
[[noreturn]] void become(const std::vector<std::string>& words, Fd network, Fd output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  const auto fail_with = [&](std::string_view what) {
    static_cast<void>(linux::write_all(output, fmt::format("{}: {}", what, errno_text(errno))));
    ::_exit(1);
  };
  if (network.value >= 0 && ::setns(network.value, CLONE_NEWNET) != 0)
    fail_with("enter the pod's network");
  const auto nothing = linux::open_verified_null();
  ::dup2(nothing ? nothing->get() : -1, STDIN_FILENO);
  ::dup2(output.value, STDOUT_FILENO);
  ::dup2(output.value, STDERR_FILENO);
  linux::reset_signals();
  linux::close_descriptors_from(STDERR_FILENO + 1);
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const linux::ExecArguments exec(words, std::move(environment));
  ::execve(exec.argv()[0], exec.argv(), exec.envp());
  fail_with(words.front());
  ::_exit(1);
}

/// What the process has written, in one line.
std::string read_output(Fd output) {
  std::string text(kMostOutput, '\0');
  const ssize_t count = ::read(output.value, text.data(), text.size());
  text.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return text.substr(0, text.find('\n'));
}

}  // namespace

Result<Asked> ask(const Probe& probe, Fd network, std::span<const std::string> command) {
  TRY_ASSIGN(const std::vector<std::string> words, words_of(probe, command));
  const bool is_exec = std::holds_alternative<ExecProbe>(probe.question);
  TRY_ASSIGN(linux::Pipe output, linux::make_pipe());
  const int flags = ::fcntl(output.reader.get(), F_GETFL);
  if (::fcntl(output.reader.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return fail(errno, "set up the probe's output");
  TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
  if (child.pid == 0) become(words, is_exec ? Fd{-1} : network, output.writer);
  return Asked{.child = std::move(child), .output = std::move(output.reader)};
}

Answer take_answer(Asked& asked) {
  const auto status = linux::wait_for_child(asked.child.pid);
  asked.child.pid = 0;
  if (!status) return {.is_success = false, .reason = status.error().message()};
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {.is_success = true, .reason = ""};
  const std::string output = read_output(asked.output);
  if (!output.empty()) return {.is_success = false, .reason = output};
  return {.is_success = false, .reason = linux::describe_end(*status)};
}

void abandon(Asked& asked) { linux::kill_child(asked.child); }

}  // namespace ocirun::pods
