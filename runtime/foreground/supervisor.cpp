#include "runtime/foreground/supervisor.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/terminal.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kMostSockets = 1000;
constexpr timeval kSendPatience{.tv_sec = 1, .tv_usec = 0};
constexpr int kReadPatience = 5000;  // ms

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

}  // namespace

Result<int> count_listening_sockets() {
  if (linux::number<int>(variable("LISTEN_PID")) != ::getpid())
    return 0;  // the sockets are meant for another process
  const std::string_view text = variable("LISTEN_FDS");
  const auto count = linux::number<int>(text);
  if (!count || *count < 0 || *count > kMostSockets)
    return refuse(
        "LISTEN_FDS={}: must be a number from 0 to {}, because LISTEN_PID names this process", text,
        kMostSockets);
  return *count;
}

Result<std::optional<Supervisor>> Supervisor::connect() {
  const std::string_view name = variable("NOTIFY_SOCKET");
  if (name.empty()) return std::nullopt;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if ((name.front() != '/' && name.front() != '@') || name.size() < 2 ||
      name.size() >= sizeof(address.sun_path))
    return refuse("NOTIFY_SOCKET={}: must be an absolute path or @name, of at most {} bytes", name,
                  sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path, name.data(), name.size());
  const bool is_abstract = name.front() == '@';
  if (is_abstract) address.sun_path[0] = '\0';
  const std::size_t size =
      offsetof(sockaddr_un, sun_path) + name.size() + (is_abstract ? 0U : 1U);  // with the NUL
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail(errno, "NOTIFY_SOCKET={}: make a socket", name);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address),
                static_cast<socklen_t>(size)) != 0)
    return fail(errno, "NOTIFY_SOCKET={}: connect", name);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kSendPatience, sizeof(kSendPatience));
  return Supervisor(std::move(socket));
}

Result<void> Supervisor::tell(std::string_view lines) const {
  if (::send(socket_.get(), lines.data(), lines.size(), MSG_NOSIGNAL) < 0)
    return fail(errno, "NOTIFY_SOCKET: tell the service manager");
  return {};
}

Result<void> Supervisor::wait_until_read() const {
  TRY_ASSIGN(linux::Pipe read, linux::make_pipe());
  TRY(within(linux::send_descriptor(socket_, read.writer, "BARRIER=1"), "NOTIFY_SOCKET"));
  read.writer.reset();  // the manager now holds the only copy, and closes it
  pollfd watched{read.reader.get(), 0, 0};
  if (::poll(&watched, 1, kReadPatience) == 0)
    return refuse("NOTIFY_SOCKET: the service manager has not read the notification for {} s",
                  kReadPatience / 1000);
  return {};
}

}  // namespace ocirun::runtime
