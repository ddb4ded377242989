#include "linux/netdevice/net_link.hpp"

#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <net/if.h>

#include <cerrno>

namespace ocirun::linux {
namespace {

Result<Place> place_of(Result<NetlinkSocket> opened) {
  OCIRUN_TRY_ASSIGN(NetlinkSocket socket, std::move(opened));
  OCIRUN_TRY_ASSIGN(UniqueFd fd, socket.network_namespace());
  return Place{std::move(socket), std::move(fd)};
}

std::string kind_in(const nlattr& info) {
  std::string kind;
  const auto look = [](const nlattr* attribute, void* text) {
    if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND)
      *static_cast<std::string*>(text) = mnl_attr_get_str(attribute);
    return MNL_CB_OK;
  };
  mnl_attr_parse_nested(&info, look, &kind);
  return kind;
}

Result<Link> ask_for_link(const NetlinkSocket& socket, NetlinkMessage& request) {
  request.add(IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  Link link;
  OCIRUN_TRY(socket.query(request, [&](const nlmsghdr& answer) {
    if (answer.nlmsg_type != RTM_NEWLINK || mnl_nlmsg_get_payload_len(&answer) < sizeof(ifinfomsg))
      return;
    const auto* fixed = static_cast<const ifinfomsg*>(mnl_nlmsg_get_payload(&answer));
    link.index = fixed->ifi_index;
    link.is_up = (fixed->ifi_flags & IFF_UP) != 0;
    for_each_attribute(answer, sizeof(ifinfomsg), [&](const nlattr& attribute) {
      if (mnl_attr_get_type(&attribute) == IFLA_IFNAME) link.name = mnl_attr_get_str(&attribute);
      if (mnl_attr_get_type(&attribute) == IFLA_LINKINFO) link.kind = kind_in(attribute);
    });
  }));
  if (link.index == 0) return fail(ENODEV, "netlink");
  return link;
}

Result<std::optional<Link>> unless_missing(Result<Link> link) {
  if (!link && link.error().number() == ENODEV) return std::nullopt;
  OCIRUN_TRY_ASSIGN(Link found, std::move(link));
  return found;
}

NetlinkMessage change_of(int index) {
  NetlinkMessage request(RTM_NEWLINK, 0);
  request.add_fixed_part<ifinfomsg>().ifi_index = index;
  return request;
}

}  // namespace

Result<Place> Place::here() { return place_of(NetlinkSocket::open()); }
Result<Place> Place::at(Fd network_namespace) {
  return place_of(NetlinkSocket::open_in(network_namespace));
}

Result<Link> read_link(const NetlinkSocket& socket, const std::string& name) {
  NetlinkMessage request(RTM_GETLINK, 0);
  request.add_fixed_part<ifinfomsg>().ifi_family = AF_UNSPEC;
  request.add(IFLA_IFNAME, name);
  return ask_for_link(socket, request);
}

Result<Link> read_link(const NetlinkSocket& socket, int index) {
  NetlinkMessage request(RTM_GETLINK, 0);
  request.add_fixed_part<ifinfomsg>().ifi_index = index;
  return ask_for_link(socket, request);
}

Result<std::optional<Link>> find_link(const NetlinkSocket& socket, const std::string& name) {
  return unless_missing(read_link(socket, name));
}

Result<std::optional<Link>> find_link(const NetlinkSocket& socket, int index) {
  return unless_missing(read_link(socket, index));
}

Result<void> rename_link(const NetlinkSocket& socket, int index, const std::string& name,
                         std::string_view advice) {
  NetlinkMessage request = change_of(index);
  request.add(IFLA_IFNAME, name);
  auto renamed = socket.acknowledge(request);
  const bool exists = !renamed && renamed.error().number() == EEXIST;
  const std::string hint =
      exists ? fmt::format(" (a device has that name already; {})", advice) : std::string();
  return within(std::move(renamed), "name it {}{}", name, hint);
}

Result<void> set_link_up(const NetlinkSocket& socket, int index) {
  NetlinkMessage request(RTM_NEWLINK, 0);
  auto& fixed = request.add_fixed_part<ifinfomsg>();
  fixed.ifi_index = index;
  fixed.ifi_flags = IFF_UP;
  fixed.ifi_change = IFF_UP;
  return within(socket.acknowledge(request), "set it up");
}

// The kernel moves the device first and renames the device second, so a failed request may have
// moved the device under its old name. If another device has the old name in the target namespace,
// the kernel moves the device under the passing name.
Result<Link> send_link(const Place& from, const Place& to, const Link& link,
                       const std::string& passing_name) {
  const auto send = [&]() -> Result<Link> {
    OCIRUN_TRY_ASSIGN(const auto namesake, find_link(to.socket, link.name));
    NetlinkMessage request = change_of(link.index);
    request.add(IFLA_NET_NS_FD, static_cast<std::uint32_t>(to.fd.get()));
    request.add(IFLA_IFNAME, passing_name);
    const auto sent = from.socket.acknowledge(request);
    if (auto arrived = read_link(to.socket, passing_name); arrived || sent) return arrived;
    const auto still_here = read_link(from.socket, link.index);
    if (!namesake && (!still_here || still_here->name != link.name))
      if (auto moved = read_link(to.socket, link.name)) return moved;
    return std::unexpected(sent.error());
  };
  return within(send(), "change its network namespace");
}

}  // namespace ocirun::linux
