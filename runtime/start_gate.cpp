#include "runtime/start_gate.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <memory>

#include "runtime/protocol.hpp"
#include "runtime/signals.hpp"

namespace ocirun::runtime {

namespace {

constexpr int kMostTries = 100;
constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 100'000'000};

// A startContainer hook is the image's, and may take as long as it likes: a signal ends the wait.
Result<void> await_record(Fd connection) {
  std::array<pollfd, 2> watched{pollfd{connection.value, POLLIN, 0},
                                pollfd{Signals::descriptor().value, POLLIN, 0}};
  while (watched[0].revents == 0) {
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR)
      return fail(errno, "wait for the container's program");
    if (watched[0].revents == 0 && watched[1].revents != 0) TRY(Signals::check());
  }
  return {};
}

}  // namespace

// `create` has said that the container is there: what the host is short of for a moment (ENFILE,
// ENOMEM, ENOBUFS) does not end it.
Result<void> StartGate::wait() {
  for (int tries = 0;;) {
    connection_.reset(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (connection_) break;
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (++tries == kMostTries) return fail(errno, "wait for start");
    ::nanosleep(&kPause, nullptr);
  }
  listener_.reset();
  return {};
}

// Nobody is held up by a `start` that does not read.
void StartGate::report_lasting_hook(std::string_view text) const {
  const std::string record = kGateHookLasts + std::string(text);
  ::send(connection_.get(), record.data(), record.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void StartGate::announce_exec() const { ::send(connection_.get(), &kGateExec, 1, MSG_NOSIGNAL); }

void StartGate::refuse(const Error& error) const {
  const std::string record = kGateFailed + error_bytes(error);
  ::send(connection_.get(), record.data(), record.size(), MSG_NOSIGNAL);
}

Result<void> await_exec(Fd connection, const std::function<void(std::string_view)>& warn) {
  constexpr std::size_t kMaxRecord = 64 * 1024;
  const auto record = std::make_unique_for_overwrite<char[]>(kMaxRecord);
  for (bool executing = false;;) {
    TRY(await_record(connection));
    const ssize_t count = ::recv(connection.value, record.get(), kMaxRecord, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      if (executing) return {};
      return refuse("{}", kEndedBeforeExec);
    }
    const std::string_view text(record.get(), static_cast<std::size_t>(count));
    if (text.front() == kGateFailed) return std::unexpected(parse_error_bytes(text.substr(1)));
    if (text.front() == kGateHookLasts) warn(text.substr(1));
    executing = text.front() == kGateExec;
  }
}

}  // namespace ocirun::runtime
