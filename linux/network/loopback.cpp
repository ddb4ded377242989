#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "linux/network/netlink.hpp"

namespace ocirun::linux {

Result<void> bring_loopback_up() {
  // netdevice(7): any socket will do. So no netlink library is needed for this flag, which every
  // container needs.
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail(errno, "set the loopback device up: make a socket");
  ifreq request{};
  std::memcpy(request.ifr_name, "lo", sizeof("lo"));
  if (::ioctl(socket.get(), SIOCGIFFLAGS, &request) == 0) {
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    if (::ioctl(socket.get(), SIOCSIFFLAGS, &request) == 0) return {};
  }
  if (errno == EPERM)
    return fail(errno,
                "/linux/namespaces: set the loopback device of the new network namespace up, which "
                "needs CAP_NET_ADMIN (run ocirun with it, or leave the network namespace out)");
  return fail(errno, "set the loopback device up");
}

}  // namespace ocirun::linux
