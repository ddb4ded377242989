#include "linux/netlink.hpp"

#include <net/if.h>

#include "linux/netlink_socket.hpp"

namespace ocirun::linux {

Result<void> bring_loopback_up() {
  constexpr int kLoopbackIndex = 1;  // LOOPBACK_IFINDEX: the same in every network namespace
  const auto bring_up = []() -> Result<void> {
    TRY_ASSIGN(const NetlinkSocket socket, NetlinkSocket::open());
    NetlinkMessage request(RTM_NEWLINK, 0);
    auto& fixed = request.add_fixed_part<ifinfomsg>();
    fixed.ifi_index = kLoopbackIndex;
    fixed.ifi_flags = IFF_UP;
    fixed.ifi_change = IFF_UP;
    return socket.acknowledge(request);
  };
  return within(bring_up(), "set the loopback device up");
}

}  // namespace ocirun::linux
