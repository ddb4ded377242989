#include "shim/loop/children.hpp"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include "linux/programs/child_call.hpp"

namespace ocirun::shim {

namespace {

/// Raises the soft limit of open files to the hard limit, and returns the limits from before. The
/// shim keeps up to nine descriptors for each process of a container.
rlimit raise_open_files() {
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit raised{.rlim_cur = before.rlim_max, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &raised);
  return before;
}

}  // namespace

std::uint32_t ProcessEnd::exit_code() const {
  return static_cast<std::uint32_t>(WIFSIGNALED(status) ? 128 + WTERMSIG(status)
                                                        : WEXITSTATUS(status));
}

Result<std::unique_ptr<Children>> Children::make(Loop& loop) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  if (::sigprocmask(SIG_BLOCK, &signals, nullptr) != 0) return fail(errno, "block SIGCHLD");
  UniqueFd descriptor(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor) return fail(errno, "make a signalfd");
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) return fail(errno, "become a subreaper");
  std::unique_ptr<Children> children(new Children(loop, std::move(descriptor)));
  children->open_files_ = raise_open_files();
  OCIRUN_TRY(loop.watch(children->signals_, EPOLLIN,
                        [&children = *children](std::uint32_t) { children.collect(); }));
  return children;
}

Children::~Children() { loop_.forget(signals_); }

void Children::expect(int pid, const Memory& memory, Ended ended) {
  const auto kept = kept_.find(pid);
  if (kept == kept_.end() || kept->second.number <= memory.since_)
    return expect(pid, std::move(ended));
  loop_.post([ended = std::move(ended), end = kept->second.end] { ended(end); });
  kept_.erase(kept);
}

void Children::expect(int pid, Ended ended) {
  kept_.erase(pid);  // the end of an earlier child
  expected_.insert_or_assign(pid, std::move(ended));
}

Result<linux::Child> Children::spawn(const linux::ExecArguments& arguments,
                                     char* const environment[],
                                     const std::vector<Fd>& descriptors) const {
  return linux::spawn(arguments.argv()[0], arguments, environment, descriptors,
                      {.open_files = &open_files_});
}

Async<ProcessEnd> Children::end_of(int pid) {
  ProcessEnd end;
  Notice notice(loop_);
  expect(pid, [&](const ProcessEnd& told) {
    end = told;
    notice.give();
  });
  co_await notice;
  co_return end;
}

Async<Result<void>> Children::call(std::function<Result<void>()> act, std::string doing) {
  // The error is read when the child has ended: a pipe must take all of it.
  std::function<Result<void>()> brief = [&act]() -> Result<void> {
    constexpr std::size_t kMostError = 2048;
    auto done = act();
    if (done || done.error().message().size() <= kMostError) return done;
    return refuse("{}...", done.error().message().substr(0, kMostError));
  };
  const auto child = linux::start_in_child(brief, linux::ChildFiles::kStandardStreams);
  if (!child) co_return std::unexpected(child.error());
  const ProcessEnd end = co_await end_of(child->child.pid);
  co_return linux::outcome_of(*child, end.status, doing);
}

void Children::collect() {
  signalfd_siginfo information;
  while (::read(signals_.get(), &information, sizeof information) > 0) {
  }
  for (;;) {
    ProcessEnd end;
    const int pid = ::waitpid(-1, &end.status, WNOHANG | __WALL);
    if (pid < 0 && errno == EINTR) continue;
    if (pid <= 0) return;
    ::clock_gettime(CLOCK_REALTIME, &end.at);
    ++collected_;
    const auto expected = expected_.find(pid);
    if (expected != expected_.end()) {
      const Ended ended = std::move(expected->second);
      expected_.erase(expected);
      ended(end);
    } else if (memories_ != 0) {
      kept_.insert_or_assign(pid, Kept{end, collected_});
    }
  }
}

}  // namespace ocirun::shim
