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

/// A network namespace: a socket for requests in it, and a descriptor for moving devices into it.
struct Place {
  NetlinkSocket socket;
  UniqueFd fd;

  /// The caller's own network namespace.
  static Result<Place> here();
  static Result<Place> at(Fd network_namespace);
};

/// Finds a device by name or by index. Errors: ENODEV.
Result<Link> read_link(const NetlinkSocket& socket, const std::string& name);
Result<Link> read_link(const NetlinkSocket& socket, int index);
/// Like read_link(); nothing where there is no such device.
Result<std::optional<Link>> find_link(const NetlinkSocket& socket, const std::string& name);
Result<std::optional<Link>> find_link(const NetlinkSocket& socket, int index);

/// Errors: EEXIST: the name is taken; the error then contains `advice`.
Result<void> rename_link(const NetlinkSocket& socket, int index, const std::string& name,
                         std::string_view advice);
Result<void> set_link_up(const NetlinkSocket& socket, int index);
/// Moves a device to another namespace. There it is down, has no addresses, and is called
/// `passing_name`, or has its old name if the kernel failed after the move.
Result<Link> send_link(const Place& from, const Place& to, const Link& link,
                       const std::string& passing_name);

}  // namespace ocirun::linux
