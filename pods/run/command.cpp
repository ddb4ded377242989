#include "pods/run/command.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/programs/child_call.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::pods {

std::string failure_text(std::string_view said, std::string_view end) {
  while (said.ends_with('\n')) said.remove_suffix(1);
  if (said.empty()) return std::string(end);
  const auto words = linux::words(end);
  const std::string_view program = words.front().substr(words.front().rfind('/') + 1);
  const std::string name = fmt::format("{}: ", program);
  if (said.starts_with(name)) {
    said.remove_prefix(name.size());
    const std::size_t colon = said.find(": ");
    const bool has_command = words.size() > 1 && said.starts_with(fmt::format("{} ", words[1])) &&
                             colon != std::string_view::npos;
    if (has_command) said.remove_prefix(colon + 2);
  }
  return fmt::format("{} ({})", said, end);
}

Result<Command> Command::run(std::span<const std::string> words, std::string what) {
  OCIRUN_TRY_ASSIGN(linux::Pipe output, within(linux::make_pipe(), what));
  OCIRUN_TRY_ASSIGN(linux::Pipe errors, within(linux::make_pipe(), what));
  OCIRUN_TRY_ASSIGN(Command command,
                    run(words, {.out = output.writer, .err = errors.writer}, std::move(what)));
  command.output_.pipe = std::move(output.reader);
  command.errors_.pipe = std::move(errors.reader);
  return command;
}

Result<Command> Command::run(std::span<const std::string> words, const linux::Streams& streams,
                             std::string what) {
  OCIRUN_TRY_ASSIGN(linux::Child child, within(linux::start_program(words, streams), what));
  return Command(std::move(child), std::move(what));
}

Result<Command> Command::call(const std::function<Result<void>()>& act, std::string what) {
  const int caller = ::getpid();
  OCIRUN_TRY_ASSIGN(linux::ChildCall call, within(linux::start_in_child([&]() -> Result<void> {
                                                    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
                                                    if (::getppid() != caller) ::_exit(1);
                                                    ::setsid();  // kill() ends its children too
                                                    return act();
                                                  }),
                                                  what));
  Command command(std::move(call.child), std::move(what));
  command.errors_.pipe = std::move(call.report);
  command.is_call_ = true;
  command.deadline_ = Clock::time_point::max();
  return command;
}

void Command::add_wanted(std::vector<pollfd>& watched) const {
  for (const Heard* heard : {&output_, &errors_})
    if (heard->pipe) watched.push_back({heard->pipe.get(), POLLIN, 0});
}

void Command::Heard::read(std::size_t most) {
  constexpr int kMostPieces = 16;  // as much as a pipe has
  for (int piece_count = 0; pipe && piece_count < kMostPieces; ++piece_count) {
    pollfd watched{pipe.get(), POLLIN, 0};
    if (::poll(&watched, 1, 0) <= 0) return;
    std::array<char, 4096> piece;
    const ssize_t count = ::read(pipe.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return pipe.reset();
    text.append(piece.data(), std::min(static_cast<std::size_t>(count), most - text.size()));
  }
}

void Command::read() {
  output_.read(std::size_t{1} << 20);
  errors_.read(std::size_t{1} << 16);
}

void Command::kill(std::string has) {
  killed_ = std::move(has);
  deadline_ = Clock::time_point::max();
  if (::kill(-child_.pid, SIGKILL) != 0) ::kill(child_.pid, SIGKILL);
}

Result<void> Command::outcome(int status) {
  read();
  std::string& said = errors_.text;
  while (said.ends_with('\n')) said.pop_back();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (is_call_ && !said.empty()) return std::unexpected(linux::parse_error_lines(said, what_));
  const std::string end = killed_.empty() ? linux::describe_end(status) : killed_;
  return refuse("{}", failure_text(said, fmt::format("{} {}", what_, end)));
}

Result<std::string> Command::await() {
  constexpr std::chrono::milliseconds kBetweenReads{20};
  for (;;) {
    const auto status = linux::collect_child(child_, kBetweenReads);
    if (!status) {
      read();
      if (Clock::now() >= deadline_) kill(too_long());
      continue;
    }
    OCIRUN_TRY(outcome(*status));
    return written();
  }
}

std::string Command::too_long() {
  return fmt::format("did not end within {} s, and was killed", linux::kProgramPatience.count());
}

bool Command::has_refused(int status) const {
  return killed_.empty() && WIFEXITED(status) && WEXITSTATUS(status) != 0;
}

}  // namespace ocirun::pods
