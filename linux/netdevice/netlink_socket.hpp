#pragma once

#include <linux/rtnetlink.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

struct mnl_socket;

namespace ocirun::linux {

/// One rtnetlink request: a header, a fixed part (ifinfomsg, ifaddrmsg) and attributes. The buffer
/// is large enough because names and addresses are short.
class NetlinkMessage {
 public:
  NetlinkMessage(std::uint16_t type, std::uint16_t flags);
  template <typename Fixed>
  Fixed& add_fixed_part() {
    return *static_cast<Fixed*>(extend(sizeof(Fixed)));
  }
  void add(std::uint16_t attribute, std::uint32_t value);
  void add(std::uint16_t attribute, const std::string& text);  // with its NUL
  void add_bytes(std::uint16_t attribute, std::string_view bytes);
  nlmsghdr* header() {
    void* bytes = buffer_.data();  // is aligned; a cast of char* would be -Wcast-align on ARM
    return static_cast<nlmsghdr*>(bytes);
  }

 private:
  void* extend(std::size_t size);
  alignas(nlmsghdr) std::array<char, 1024> buffer_;
};

/// Calls `visit` for each attribute of `answer`. `offset` is the size of the fixed part before the
/// attributes.
void for_each_attribute(const nlmsghdr& answer, std::size_t offset,
                        const std::function<void(const nlattr&)>& visit);

/// An rtnetlink socket. It stays in the network namespace in which it was opened.
class NetlinkSocket {
 public:
  /// Opens a socket in the caller's network namespace.
  static Result<NetlinkSocket> open();
  /// Opens a socket in `network_namespace`. The caller, which must have a single thread, joins that
  /// namespace for one system call, and returns to its own in any case.
  static Result<NetlinkSocket> open_in(Fd network_namespace);

  /// The network namespace of the socket (SIOCGSKNS: needs CAP_NET_ADMIN there).
  Result<UniqueFd> network_namespace() const;

  /// Sends a request and waits for its acknowledgement. Errors: the kernel's, with its extended
  /// message.
  Result<void> acknowledge(NetlinkMessage& request) const;
  /// Sends a request or a dump and calls `visit` for each answer.
  using Visitor = std::function<void(const nlmsghdr& answer)>;
  Result<void> query(NetlinkMessage& request, const Visitor& visit) const;

 private:
  struct Close {
    void operator()(mnl_socket* socket) const;
  };
  explicit NetlinkSocket(mnl_socket* socket) : socket_(socket) {}
  std::unique_ptr<mnl_socket, Close> socket_;
};

}  // namespace ocirun::linux
