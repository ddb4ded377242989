#include "shim/tasks/console.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "linux/base/message_socket.hpp"
#include "linux/base/unix_address.hpp"

namespace ocirun::shim {

Result<ConsoleSocket> ConsoleSocket::make(std::string path) {
  OCIRUN_TRY_ASSIGN(const sockaddr_un address, linux::unix_address(path));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(errno, "make a socket");
  ::unlink(path.c_str());  // a shim that was killed may have left it
  // bind(2) gives the file the mode of the socket.
  if (::fchmod(socket.get(), 0600) != 0 ||
      ::bind(socket.get(), linux::generic(address), sizeof address) != 0 ||
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
  auto received = linux::receive_message(runtime, text);
  if (!received) return within<UniqueFd>(std::unexpected(received.error()), "the terminal");
  if (received->descriptors.empty()) return refuse("the runtime has sent no terminal");
  return std::move(received->descriptors.front());
}

}  // namespace ocirun::shim
