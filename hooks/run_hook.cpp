#include "hooks/run_hook.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "linux/base/file_io.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "linux/base/timeline.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/interpreter.hpp"

namespace ocirun::hooks {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kOutputKept = 64 * 1024;  // the end of the hook's output, for the error
constexpr std::chrono::seconds kReminder{10};

// Makes a pipe that holds the whole state, where a seccomp filter refuses memfd_create(2).
Result<UniqueFd> make_stdin_pipe(std::string_view state) {
  OCIRUN_TRY_ASSIGN(linux::Pipe pipe, linux::make_pipe());
  ::fcntl(pipe.writer.get(), F_SETPIPE_SZ, static_cast<int>(state.size()));
  ::fcntl(pipe.writer.get(), F_SETFL, O_NONBLOCK);  // else a state that is too long would block
  OCIRUN_TRY(linux::write_all(pipe.writer, state));
  return std::move(pipe.reader);
}

// Makes a memory file with the state. A pipe would block the runtime if the state is long and the
// hook never reads stdin.
Result<UniqueFd> make_stdin(std::string_view state) {
  auto made = linux::make_memory_file("state");
  if (!made && (made.error().number() == EPERM || made.error().number() == ENOSYS))
    return within(make_stdin_pipe(state), "make the state's pipe, without memfd_create");
  OCIRUN_TRY_ASSIGN(UniqueFd fd, within(std::move(made), "the state of the container"));
  OCIRUN_TRY(linux::write_all(fd, state));
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return fail(errno, "rewind the state");
  return fd;
}

/// The steps of the hook's process up to execve(2).
enum class Step : int { kDirectory, kStreams, kConfine, kExecute };
struct Failure {
  Step step;
  int reason;                               // errno
  std::array<char, 1024> explanation = {};  // for kExecute: a C string; a long text is cut off
};

bool enter_directory(const Context& context) {
  if (context.directory_itself.value >= 0) return ::fchdir(context.directory_itself.value) == 0;
  return ::chdir(context.directory.c_str()) == 0 || ::chdir("/") == 0;
}

// Returns only if a step failed.
Failure execute(const Hook& hook, const Context& context) {
  const auto& environment = hook.env ? hook.env : context.default_env;
  const linux::ExecArguments arguments(
      hook.args.empty() ? std::vector{hook.path.string()} : hook.args,
      environment.value_or(std::vector<std::string>()));
  linux::close_descriptors_from(4);
  if (context.confine)
    if (const auto confined = context.confine(); !confined)
      return {Step::kConfine, confined.error().number()};
  ::execve(hook.path.c_str(), arguments.argv(), environment ? arguments.envp() : environ);
  Failure failure{Step::kExecute, errno};
  linux::explain_exec(hook.path.string(), failure.reason, context.place)
      .copy(failure.explanation.data(), failure.explanation.size() - 1);
  return failure;
}

[[noreturn]] void give_up(Fd failure, const Failure& reason) {
  ignore(::write(failure.value, &reason, sizeof(reason)));
  ::_exit(127);
}

[[noreturn]] void become_hook(const Hook& hook, const Context& context, Fd input, Fd output,
                              Fd failure) {
  // The kernel kills the hook when the runtime dies. If the runtime died before prctl(2), the
  // kernel sends no signal, but the output pipe has no reader: poll(2) reports POLLERR.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  pollfd reader{output.value, 0, 0};
  if (::poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) ::_exit(127);
  ::setsid();  // also makes a process group: a timeout kills the whole group
  linux::reset_signals();
  // fchdir(2) comes before dup2(2): the directory may be descriptor 3, which dup2(2) replaces.
  if (!enter_directory(context)) give_up(failure, {Step::kDirectory, errno});
  if (::dup2(input.value, 0) < 0 || ::dup2(output.value, 1) < 0 || ::dup2(output.value, 2) < 0 ||
      ::dup2(failure.value, 3) < 0)
    give_up(failure, {Step::kStreams, errno});
  // execve(2) closes the failure pipe on success: the parent reads end of file.
  ::fcntl(3, F_SETFD, FD_CLOEXEC);
  give_up(Fd{3}, execute(hook, context));
}

std::string what_failed(const Failure& failure, const Hook& hook) {
  switch (failure.step) {
    case Step::kDirectory:
      return "enter the hook's working directory";
    case Step::kStreams:
      return "set up the hook's standard streams";
    case Step::kConfine:
      return "load the seccomp filter for the hook";
    case Step::kExecute:
      break;
  }
  return fmt::format("exec {}{}", hook.path.string(), failure.explanation.data());
}

// Reads the available output, but at most 1 MiB, because a hook may write without end. Keeps the
// last kOutputKept bytes. Returns false at end of file.
bool drain(Fd output, std::string& kept) {
  std::array<char, 4096> buffer;
  for (int reads = 0; reads < 256; ++reads) {
    const ssize_t count = ::read(output.value, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return true;  // EAGAIN
    if (count == 0) return false;
    kept.append(buffer.data(), static_cast<std::size_t>(count));
    if (kept.size() > kOutputKept) kept.erase(0, kept.size() - kOutputKept);
  }
  return true;
}

std::string tail_of(std::string output) {
  while (!output.empty() && (output.back() == '\n' || output.back() == ' ')) output.pop_back();
  return output.empty() ? "" : ": " + output;
}

int poll_timeout(const Hook& hook, Clock::time_point begin, int reminders) {
  const auto until = hook.timeout ? begin + *hook.timeout : begin + kReminder * (reminders + 1);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  // H-5 allows a timeout of 68 years; poll(2) waits at most 24 days.
  return static_cast<int>(
      std::clamp<std::chrono::milliseconds>(left, {}, std::chrono::hours(1)).count());
}

enum class Ending { kExited, kTimedOut };

// Waits until the hook's process has ended (the pidfd is readable) or the hook's timeout is over.
// With a pidfd, a grandchild that keeps the output pipe open does not delay the return. After an
// error of poll(2) or check_interrupt, the hook still runs.
Result<Ending> wait_for_end(const Hook& hook, std::string_view name, const Context& context,
                            const linux::Child& child, Fd output, std::string& kept) {
  const auto begin = Clock::now();
  std::array<pollfd, 3> watched{pollfd{output.value, POLLIN, 0},
                                pollfd{child.pidfd.get(), POLLIN, 0},
                                pollfd{context.interrupt.value, POLLIN, 0}};
  for (int reminders = 0;;) {
    const int ready = ::poll(watched.data(), watched.size(), poll_timeout(hook, begin, reminders));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return fail(errno, "wait for the end of {}", name);
    const bool has_ended = watched[1].revents != 0;
    if (hook.timeout && !has_ended && Clock::now() >= begin + *hook.timeout)
      return Ending::kTimedOut;
    if (ready == 0) {
      if (hook.timeout) continue;
      ++reminders;
      if (context.warn)
        context.warn(fmt::format("{} has no timeout, and has run for {} s already", name,
                                 (kReminder * reminders).count()));
      continue;
    }
    if (watched[2].revents != 0 && !has_ended) OCIRUN_TRY(context.check_interrupt());
    if (watched[0].revents != 0 && !drain(output, kept)) watched[0].fd = -1;
    // Without a pidfd (Linux before 5.3), the end of the output counts as the end of the hook.
    if (has_ended || (child.pidfd.get() < 0 && watched[0].fd < 0)) break;
  }
  drain(output, kept);
  return Ending::kExited;
}

}  // namespace

Result<void> run_hook(const Hook& hook, std::string_view name, const Context& context) {
  OCIRUN_TRY_ASSIGN(const UniqueFd input, make_stdin(context.state));
  OCIRUN_TRY_ASSIGN(linux::Pipe output, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(linux::Pipe failure, linux::make_pipe());
  ::fcntl(output.reader.get(), F_SETFL, O_NONBLOCK);  // the hook's end of the pipe stays blocking
  OCIRUN_TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) {
    output.reader.reset();
    become_hook(hook, context, input, output.writer, failure.writer);
  }
  output.writer.reset();
  failure.writer.reset();

  std::string kept;
  const Result<Ending> ending = wait_for_end(hook, name, context, child, output.reader, kept);
  if (ending != Ending::kExited) {
    ::kill(-child.pid, SIGKILL);  // fails if the hook has not called setsid(2) yet
    linux::kill_child(child);     // waits at most two seconds
    OCIRUN_TRY(ending);
    return refuse("timed out after {} s{}", hook.timeout->count(), tail_of(std::move(kept)));
  }
  OCIRUN_TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  Failure given_up{};
  if (::read(failure.reader.get(), &given_up, sizeof(given_up)) == sizeof(given_up))
    return fail(given_up.reason, "{}", what_failed(given_up, hook));
  if (WIFSIGNALED(status))
    return refuse("killed by signal {}{}", WTERMSIG(status), tail_of(std::move(kept)));
  if (WEXITSTATUS(status) != 0)
    return refuse("exit status {}{}", WEXITSTATUS(status), tail_of(std::move(kept)));
  return {};
}

namespace {

constexpr linux::Named<Kind> kNames[] = {
    {"prestart", Kind::kPrestart},
    {"createRuntime", Kind::kCreateRuntime},
    {"createContainer", Kind::kCreateContainer},
    {"startContainer", Kind::kStartContainer},
    {"poststart", Kind::kPoststart},
    {"poststop", Kind::kPoststop},
};

}  // namespace

std::string_view config_name(Kind kind) { return name_of(kNames, kind); }

FailureRule failure_rule(Kind kind) {
  return kind == Kind::kPoststop ? FailureRule::kContinue : FailureRule::kAbort;
}

Result<void> run_phase(const Hooks& hooks, Kind kind, FailureRule rule, const Context& context) {
  const std::vector<Hook>& list = hooks.of(kind);
  for (std::size_t index = 0; index < list.size(); ++index) {
    const std::string name =
        fmt::format("{} hook #{} ({})", config_name(kind), index, list[index].path.string());
    const std::string started = linux::rfc3339_now(0);
    const auto began = std::chrono::steady_clock::now();
    auto outcome = [&] {
      const linux::timeline::ProgramSpan program("hook", name);
      return run_hook(list[index], name, context);
    }();
    if (context.ran != nullptr)
      context.ran->push_back({.kind = kind,
                              .index = index,
                              .started = started,
                              .lasted = std::chrono::duration_cast<std::chrono::milliseconds>(
                                  std::chrono::steady_clock::now() - began),
                              .error = outcome ? "" : outcome.error().message()});
    if (outcome) continue;
    outcome.error().within(fmt::format("{} {}", kHookFailure, name));
    if (rule == FailureRule::kAbort) return outcome;
    if (context.warn) context.warn(outcome.error().message());
  }
  return {};
}

bool is_hook_failure(const Error& error) {
  return error.frames().front().starts_with(kHookFailure);
}

}  // namespace ocirun::hooks
