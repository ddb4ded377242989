#include "shim/tasks/console.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "linux/base/unix_address.hpp"

namespace ocirun::shim {

Result<ConsoleSocket> ConsoleSocket::make(std::string path) {
  OCIRUN_TRY_ASSIGN(const sockaddr_un address, linux::unix_address(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(errno, "make a socket");
  ::unlink(path.c_str());  // of a shim that was killed
  if (::bind(socket.get(), linux::generic(address), sizeof address) != 0 ||
      ::listen(socket.get(), 1) != 0)
    return fail(errno, "listen on {}", path);
  return ConsoleSocket(std::move(path), std::move(socket));
}

ConsoleSocket::~ConsoleSocket() {
  if (socket_) ::unlink(path_.c_str());
}

Result<UniqueFd> ConsoleSocket::take_master() const {
  const UniqueFd runtime(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!runtime) return fail(errno, "the runtime has not given the terminal");
  std::array<char, 4096> text;
  iovec part{text.data(), text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  if (::recvmsg(runtime.get(), &header, MSG_CMSG_CLOEXEC) < 0)
    return fail(errno, "receive the terminal");
  const cmsghdr* const entry = CMSG_FIRSTHDR(&header);
  if (entry == nullptr || entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS)
    return refuse("the runtime has sent no terminal");
  int master = -1;
  std::memcpy(&master, CMSG_DATA(entry), sizeof master);
  return UniqueFd(master);
}

}  // namespace ocirun::shim
