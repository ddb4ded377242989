#include "linux/base/notify_socket.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace ocirun::linux {
namespace {

constexpr timeval kSendPatience{.tv_sec = 1, .tv_usec = 0};

}  // namespace

Result<std::optional<NotifySocket>> NotifySocket::connect(std::string_view name) {
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
  return NotifySocket(std::move(socket));
}

Result<void> NotifySocket::tell(std::string_view lines) const {
  if (::send(socket_.get(), lines.data(), lines.size(), MSG_NOSIGNAL) < 0)
    return fail(errno, "NOTIFY_SOCKET: tell the service manager");
  return {};
}

}  // namespace ocirun::linux
