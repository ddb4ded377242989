#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <sys/random.h>

#include <cerrno>

#include "linux/netdevice/net_address.hpp"
#include "linux/netdevice/net_device.hpp"
#include "linux/netdevice/netlink_socket.hpp"

// A device changes its namespace under a random name, and gets the wanted one where it arrives. The
// random name tells the device apart in either namespace at every point where a step can fail,
// while its index may change on the way, the old name may be taken there, and the new name may be a
// template.

namespace ocirun::linux {
namespace {

struct Link {
  int index = 0;
  bool up = false;
  std::string name;
};

// A network namespace seen from outside: a socket to talk to it, a descriptor to move things there.
struct Place {
  NetlinkSocket socket;
  UniqueFd fd;
};

enum class Arrival { kUp, kAsBefore };

Result<Place> place_of(Result<NetlinkSocket> opened) {
  TRY_ASSIGN(NetlinkSocket socket, std::move(opened));
  TRY_ASSIGN(UniqueFd fd, socket.network_namespace());
  return Place{std::move(socket), std::move(fd)};
}

Result<Link> read_link(const NetlinkSocket& socket, NetlinkMessage& request) {
  request.add(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  Link link;
  TRY(socket.query(request, [&](const nlmsghdr& answer) {
    if (answer.nlmsg_type != RTM_NEWLINK || mnl_nlmsg_get_payload_len(&answer) < sizeof(ifinfomsg))
      return;
    const auto* fixed = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(&answer));
    link.index = fixed->ifi_index;
    link.up = (fixed->ifi_flags & IFF_UP) != 0;
    for_each_attribute(answer, sizeof(ifinfomsg), [&](const nlattr& attribute) {
      if (mnl_attr_get_type(&attribute) == IFLA_IFNAME) link.name = mnl_attr_get_str(&attribute);
    });
  }));
  if (link.index == 0) return fail(ENODEV, "netlink");
  return link;
}

Result<Link> find_link(const NetlinkSocket& socket, const std::string& name) {
  NetlinkMessage request(RTM_GETLINK, 0);
  request.add_fixed_part<ifinfomsg>().ifi_family = AF_UNSPEC;
  request.add(IFLA_IFNAME, name);
  return read_link(socket, request);
}

Result<Link> find_link(const NetlinkSocket& socket, int index) {
  NetlinkMessage request(RTM_GETLINK, 0);
  request.add_fixed_part<ifinfomsg>().ifi_index = index;
  return read_link(socket, request);
}

NetlinkMessage change_of(int index) {
  NetlinkMessage request(RTM_NEWLINK, 0);
  request.add_fixed_part<ifinfomsg>().ifi_index = index;
  return request;
}

Result<void> rename(const NetlinkSocket& socket, int index, const std::string& name) {
  NetlinkMessage request = change_of(index);
  request.add(IFLA_IFNAME, name);
  auto renamed = socket.acknowledge(request);
  const bool exists = !renamed && renamed.error().number() == EEXIST;
  return within(std::move(renamed),
                fmt::format("name it {}{}", name,
                            exists ? " (a device has that name already; choose another, or a"
                                     " template such as \"eth%d\")"
                                   : ""));
}

Result<void> set_up(const NetlinkSocket& socket, int index) {
  NetlinkMessage request(RTM_NEWLINK, 0);
  auto& fixed = request.add_fixed_part<ifinfomsg>();
  fixed.ifi_index = index;
  fixed.ifi_flags = IFF_UP;
  fixed.ifi_change = IFF_UP;
  return within(socket.acknowledge(request), "set it up");
}

std::string random_name() {
  std::uint64_t number = 0;
  [[maybe_unused]] const ssize_t ignored = ::getrandom(&number, sizeof number, 0);
  return fmt::format("oci{:012x}", number & 0xFFFFFFFFFFFF);  // 15 bytes: what a name may have
}

// What the device needs where it arrived; the name that it got.
Result<std::string> settle(const NetlinkSocket& socket, const Link& arrived, const Link& before,
                           const std::vector<NetAddress>& addresses, const std::string& name,
                           Arrival arrival) {
  TRY(rename(socket, arrived.index, name));
  TRY_ASSIGN(const Link named, find_link(socket, arrived.index));
  TRY(add_addresses(socket, arrived.index, addresses, before.name, named.name));
  if (arrival == Arrival::kUp || before.up) TRY(set_up(socket, arrived.index));
  return named.name;
}

// The kernel moves first and renames second, so the request can fail half done.
Result<Link> send(const Place& from, const Place& to, const Link& link) {
  const std::string passing_name = random_name();
  NetlinkMessage request = change_of(link.index);
  request.add(IFLA_NET_NS_FD, static_cast<std::uint32_t>(to.fd.get()));
  request.add(IFLA_IFNAME, passing_name);
  const auto sent = from.socket.acknowledge(request);
  if (sent) return find_link(to.socket, passing_name);
  const auto still_here = find_link(from.socket, link.index);
  if (!still_here || still_here->name != link.name)
    if (auto moved = find_link(to.socket, link.name)) return moved;
  return std::unexpected(sent.error());
}

Result<std::string> transfer(const Place& from, const Place& to, const std::string& old_name,
                             const std::string& new_name, Arrival arrival) {
  TRY_ASSIGN(const Link before, find_link(from.socket, old_name));
  TRY_ASSIGN(const auto addresses, permanent_addresses(from.socket, before.index));
  TRY_ASSIGN(const Link arrived, within(send(from, to, before), "change its network namespace"));
  auto name = settle(to.socket, arrived, before, addresses, new_name, arrival);
  if (name) return name;

  auto returned = send(to, from, arrived);
  Result<std::string> settled =
      returned ? settle(from.socket, *returned, before, addresses, old_name, Arrival::kAsBefore)
               : std::unexpected(returned.error());
  if (!settled)
    name.error().within(
        fmt::format("it could not be put back either ({})", settled.error().message()));
  return name;
}

}  // namespace

Result<std::string> move_net_device(const NetDevice& device, Fd target) {
  const auto move = [&]() -> Result<std::string> {
    TRY_ASSIGN(const Place here, place_of(NetlinkSocket::open()));
    TRY_ASSIGN(const Place there, place_of(NetlinkSocket::open_in(target)));
    return transfer(here, there, device.host_name, device.container_name, Arrival::kUp);
  };
  return within(move(), fmt::format("move it into the container as {}", device.container_name));
}

Result<void> return_net_device(std::string_view name, std::string_view host_name, Fd source) {
  const auto move = [&]() -> Result<std::string> {
    TRY_ASSIGN(const Place here, place_of(NetlinkSocket::open()));
    TRY_ASSIGN(const Place there, place_of(NetlinkSocket::open_in(source)));
    return transfer(there, here, std::string(name), std::string(host_name), Arrival::kAsBefore);
  };
  TRY(within(move(), fmt::format("return network device {} to the host as {}", name, host_name)));
  return {};
}

}  // namespace ocirun::linux
