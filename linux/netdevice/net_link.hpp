#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/netdevice/netlink_socket.hpp"

namespace ocirun::linux {

/// A network device as the kernel shows it.
struct Link {
  int index = 0;
  bool is_up = false;
  std::string name;
  std::string kind;  // "veth", "bridge" …, empty for hardware
};

/// A network namespace seen from outside: a socket to talk to it, a descriptor to move things
/// there.
struct Place {
  NetlinkSocket socket;
  UniqueFd fd;

  /// The caller's own.
  static Result<Place> here();
  static Result<Place> at(Fd network_namespace);
};

/// By name or by index. Errors: ENODEV.
Result<Link> read_link(const NetlinkSocket& socket, const std::string& name);
Result<Link> read_link(const NetlinkSocket& socket, int index);
/// The same; nothing where there is no such device.
Result<std::optional<Link>> find_link(const NetlinkSocket& socket, const std::string& name);
Result<std::optional<Link>> find_link(const NetlinkSocket& socket, int index);

/// Errors: EEXIST, and then `advice` is told too.
Result<void> rename_link(const NetlinkSocket& socket, int index, const std::string& name,
                         std::string_view advice);
Result<void> set_link_up(const NetlinkSocket& socket, int index);
/// Moves a device to another namespace, where it has the name `passing_name`, or, where the kernel
/// moved it and then failed, the old one. It is down then and without addresses.
Result<Link> send_link(const Place& from, const Place& to, const Link& link,
                       const std::string& passing_name);

}  // namespace ocirun::linux
