#include "runtime/protocol/start_gate.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>

#include "linux/base/timeline.hpp"
#include "runtime/base/signals.hpp"
#include "runtime/protocol/protocol.hpp"

namespace ocirun::runtime {

namespace {

constexpr int kMostTries = 100;
constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 100'000'000};

}  // namespace

// Repeats accept4 for ten seconds: a passing shortage of the host (ENFILE, ENOMEM, ENOBUFS) must
// not end init, because `create` has reported success.
Result<void> StartGate::wait() {
  // write(2) has no MSG_DONTWAIT, so the connection gets SOCK_NONBLOCK.
  const int flags = SOCK_CLOEXEC | (send_by_ == linux::SendBy::kWrite ? SOCK_NONBLOCK : 0);
  for (int tries = 0;;) {
    connection_.reset(::accept4(listener_.get(), nullptr, nullptr, flags));
    if (connection_) break;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (++tries == kMostTries) return fail(errno, "wait for start");
    ::nanosleep(&kPause, nullptr);
  }
  listener_.reset();
  return {};
}

void StartGate::send(std::string_view record, int flags) const {
  if (send_by_ == linux::SendBy::kWrite) {
    ignore(::write(connection_.get(), record.data(), record.size()));
  } else {
    ::send(connection_.get(), record.data(), record.size(), MSG_NOSIGNAL | flags);
  }
}

// MSG_DONTWAIT: a `start` that does not read must not hold up init.
void StartGate::report_lasting_hook(std::string_view text) const {
  send(kGateHookLasts + std::string(text), MSG_DONTWAIT);
}

void StartGate::report_hooks(std::string_view times) const {
  send(kGateHooksRan + std::string(times), MSG_DONTWAIT);
}

void StartGate::announce_exec() const { send(std::string_view(&kGateExec, 1), 0); }

void StartGate::refuse(const Error& error) const { send(kGateFailed + error_bytes(error), 0); }

Result<void> await_exec(Fd connection, const GateListener& listener) {
  const linux::timeline::Wait wait("wait for execve");
  constexpr std::size_t kMaxRecord = 64 * 1024;
  static std::array<char, kMaxRecord> record;  // not on the heap, which would cost a brk(2)
  bool hooks_told = false;
  for (bool executing = false;;) {
    // Init may run a startContainer hook, whose program may come from the image. A hook without
    // timeout may last for ever, so a signal to `start` ends the wait.
    OCIRUN_TRY(await_word(connection, Fd{},
                          [&](auto so_far) { return listener.on_silence(so_far, executing); }));
    const ssize_t count = ::recv(connection.value, record.data(), record.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errno, "{}", kEndedBeforeExec);
    if (count == 0) {
      if (executing) return {};
      return refuse("{}", kEndedBeforeExec);
    }
    const std::string_view text(record.data(), static_cast<std::size_t>(count));
    if (text.front() == kGateFailed) return std::unexpected(parse_error_bytes(text.substr(1)));
    if (text.front() == kGateHookLasts) listener.warn(text.substr(1));
    if (text.front() == kGateHooksRan && listener.hooks_ran && !hooks_told) {
      hooks_told = true;  // init may be in the hands of the container
      listener.hooks_ran(text.substr(1));
    }
    executing = text.front() == kGateExec;
    if (executing && listener.executes) listener.executes();
  }
}

}  // namespace ocirun::runtime
