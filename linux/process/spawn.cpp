#include "linux/process/spawn.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "linux/base/outer_filter.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kStackSize = 65536;  // bytes; the functions of become() need few

/// The data that the child reads from its parent's memory, and the error that the child leaves
/// there.
struct Request {
  const char* path;
  char* const* arguments;
  char* const* environment;
  std::vector<Fd>& descriptors;  // place() changes the numbers
  int parent;                    // the pid
  int parent_pidfd;              // for a new pid namespace, where the parent has no pid; or -1
  const rlimit* open_files;
  int error;
};

/// A stack for the child, which must not write to the stack of its parent.
class Stack {
 public:
  Stack()
      : start_(::mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0)) {}
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() {
    if (start_ != MAP_FAILED) ::munmap(start_, kStackSize);
  }
  void* top() const {
    return start_ == MAP_FAILED ? nullptr : static_cast<char*>(start_) + kStackSize;
  }

 private:
  void* start_;
};

/// Whether the parent died before the child set PR_SET_PDEATHSIG: then the kernel does not kill the
/// child.
[[gnu::no_sanitize_address]] bool is_orphan(const Request& request) {
  if (request.parent_pidfd < 0) return ::getppid() != request.parent;
  pollfd parent{request.parent_pidfd, POLLIN, 0};
  return ::poll(&parent, 1, 0) != 0;
}

/// Gives the descriptors the numbers 0, 1, 2 and so on. Returns false on an error.
[[gnu::no_sanitize_address]] bool place(std::vector<Fd>& descriptors) {
  // Descriptors below `count` move to higher numbers first: dup2(2) would close them.
  const int count = static_cast<int>(descriptors.size());
  for (Fd& own : descriptors) {
    if (own.value >= count) continue;
    own.value = ::fcntl(own.value, F_DUPFD_CLOEXEC, count);
    if (own.value < 0) return false;
  }
  for (int number = 0; number < count; ++number)
    if (::dup2(descriptors[static_cast<std::size_t>(number)].value, number) < 0) return false;
  return true;
}

/// Runs in the child. The parent sleeps until execve(2) or _exit(2), so both may use the same heap.
/// AddressSanitizer is off: the function never returns, so its frame would stay poisoned in the
/// parent's memory.
[[gnu::no_sanitize_address]] int become(void* given) {
  auto& request = *static_cast<Request*>(given);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (is_orphan(request)) ::_exit(127);
  ::setsid();
  // place() comes before setrlimit(2): below a lower limit it would find no free number.
  if (place(request.descriptors) &&
      (request.open_files == nullptr || ::setrlimit(RLIMIT_NOFILE, request.open_files) == 0)) {
    reset_signals();
    close_descriptors_from(static_cast<int>(request.descriptors.size()));
    ::execve(request.path, request.arguments, request.environment);
  }
  request.error = errno;
  ::_exit(127);
}

}  // namespace

Result<Child> spawn(const char* path, const ExecArguments& arguments, char* const environment[],
                    const std::vector<Fd>& descriptors, const ProgramChanges& changes) {
  const Stack stack;
  if (stack.top() == nullptr) return fail(errno, "a stack for {}", path);
  UniqueFd own_pidfd;
  if ((changes.namespaces & static_cast<unsigned>(CLONE_NEWPID)) != 0) {
    own_pidfd.reset(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    if (!own_pidfd)
      return failed_call(SYS_pidfd_open, fmt::format("a descriptor of the parent of {}", path));
  }
  std::vector<Fd> own = descriptors;
  Request request{.path = path,
                  .arguments = arguments.argv(),
                  .environment = environment,
                  .descriptors = own,
                  .parent = ::getpid(),
                  .parent_pidfd = own_pidfd.get(),
                  .open_files = changes.open_files,
                  .error = 0};
  // Blocks all signals: a handler that ran in the child would change the memory of the parent.
  sigset_t all, before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  int pidfd = -1;
  const int pid =
      ::clone(become, stack.top(),
              CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD | static_cast<int>(changes.namespaces),
              &request, &pidfd);
  const int clone_error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return fail(clone_error, "start {}", path);
  Child child{.pid = pid, .pidfd = UniqueFd(pidfd)};
  if (request.error == 0) return child;
  OCIRUN_TRY(wait_for_child(pid));
  return fail(request.error, "{}", path);
}

namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds time_until(Clock::time_point deadline) {
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()),
                  std::chrono::milliseconds(0));
}

enum class Heard { kWords, kEnd };

// Reads the next bytes from `output`, and appends them to `text` up to a size of `kept`.
Result<Heard> hear(Fd output, std::size_t kept, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t count = ::read(output.value, buffer.data(), buffer.size());
  if (count < 0 && errno == EINTR) return Heard::kWords;
  if (count < 0) return fail(errno, "read its output");
  text.append(buffer.data(), std::min(static_cast<std::size_t>(count), kept - text.size()));
  return count == 0 ? Heard::kEnd : Heard::kWords;
}

Result<ProgramEnd> hear_out(Child& child, Fd output, std::size_t kept, const Interrupt& interrupt) {
  ProgramEnd end;
  auto deadline = Clock::now() + kProgramSilence;
  for (;;) {
    std::array<pollfd, 2> watched{pollfd{output.value, POLLIN, 0},
                                  pollfd{interrupt.descriptor.value, POLLIN, 0}};
    const int ready =
        ::poll(watched.data(), watched.size(), static_cast<int>(time_until(deadline).count()));
    if (ready < 0 && errno != EINTR) return fail(errno, "wait for it");
    if (ready == 0) break;
    if (ready > 0 && watched[1].revents != 0 && interrupt.check) OCIRUN_TRY(interrupt.check());
    if (ready < 0 || watched[0].revents == 0) continue;
    OCIRUN_TRY_ASSIGN(const Heard heard, hear(output, kept, end.output));
    if (heard == Heard::kEnd) break;
    deadline = Clock::now() + kProgramSilence;
  }
  const auto status = collect_child(child, time_until(deadline));
  if (!status)
    return fail(ETIMEDOUT, "it did not end within {} s and was killed", kProgramSilence.count());
  end.status = *status;
  return end;
}

}  // namespace

Result<ProgramEnd> await_program(Child child, Fd output, std::size_t kept, const std::string& name,
                                 const Interrupt& interrupt) {
  auto end = hear_out(child, output, kept, interrupt);
  if (!end) kill_child(child);
  return within(std::move(end), name);
}

}  // namespace ocirun::linux
