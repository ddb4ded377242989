#include "linux/netdevice/netlink_socket.hpp"

#include <libmnl/libmnl.h>
#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstdlib>

namespace ocirun::linux {
namespace {

// The text of NLMSGERR_ATTR_MSG, with which the kernel explains the errno ("" before Linux 4.12).
std::string kernel_text(const nlmsghdr& answer) {
  if (!(answer.nlmsg_flags & NLM_F_ACK_TLVS)) return {};
  std::string text;
  // Because of NETLINK_CAP_ACK, the answer does not repeat the request.
  for_each_attribute(answer, sizeof(nlmsgerr), [&](const nlattr& attribute) {
    if (mnl_attr_get_type(&attribute) == NLMSGERR_ATTR_MSG &&
        mnl_attr_validate(&attribute, MNL_TYPE_NUL_STRING) == 0)
      text = mnl_attr_get_str(&attribute);
  });
  return text;
}

// The error in an NLMSG_ERROR or NLMSG_DONE message, if any.
Result<void> outcome(const nlmsghdr& answer) {
  if (mnl_nlmsg_get_payload_len(&answer) < sizeof(int)) return {};
  const int error = *static_cast<const int*>(mnl_nlmsg_get_payload(&answer));
  if (error == 0) return {};
  const std::string text = answer.nlmsg_type == NLMSG_ERROR ? kernel_text(answer) : std::string();
  if (text.empty()) return fail(-error, "netlink");
  return fail(-error, "netlink ({})", text);
}

struct Progress {
  bool done = false;
  bool interrupted = false;
};

// Processes the answers in one datagram.
Result<void> read_answers(const nlmsghdr* answer, int length, bool wants_acknowledgement,
                          const NetlinkSocket::Visitor& visit, Progress& progress) {
  for (; mnl_nlmsg_ok(answer, length); answer = mnl_nlmsg_next(answer, &length)) {
    progress.interrupted = progress.interrupted || (answer->nlmsg_flags & NLM_F_DUMP_INTR);
    if (answer->nlmsg_type == NLMSG_ERROR || answer->nlmsg_type == NLMSG_DONE) {
      progress.done = true;
      return outcome(*answer);
    }
    visit(*answer);
    // A request that is neither a dump nor acknowledged has only one answer.
    progress.done = !wants_acknowledgement && !(answer->nlmsg_flags & NLM_F_MULTI);
  }
  return {};
}

}  // namespace

NetlinkMessage::NetlinkMessage(std::uint16_t type, std::uint16_t flags) {
  nlmsghdr* message = mnl_nlmsg_put_header(buffer_.data());
  message->nlmsg_type = type;
  message->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
}

void* NetlinkMessage::extend(std::size_t size) {
  return mnl_nlmsg_put_extra_header(header(), size);
}

void NetlinkMessage::add(std::uint16_t attribute, std::uint32_t value) {
  mnl_attr_put_u32(header(), attribute, value);
}

void NetlinkMessage::add(std::uint16_t attribute, const std::string& text) {
  mnl_attr_put_strz(header(), attribute, text.c_str());
}

void NetlinkMessage::add_bytes(std::uint16_t attribute, std::string_view bytes) {
  mnl_attr_put(header(), attribute, bytes.size(), bytes.data());
}

void for_each_attribute(const nlmsghdr& answer, std::size_t offset,
                        const std::function<void(const nlattr&)>& visit) {
  const auto call = [](const nlattr* attribute, void* data) {
    (*static_cast<const std::function<void(const nlattr&)>*>(data))(*attribute);
    return MNL_CB_OK;
  };
  mnl_attr_parse(&answer, static_cast<unsigned>(offset), call,
                 const_cast<std::function<void(const nlattr&)>*>(&visit));
}

void NetlinkSocket::Close::operator()(mnl_socket* socket) const { mnl_socket_close(socket); }

Result<NetlinkSocket> NetlinkSocket::open() {
  mnl_socket* const socket = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
  if (socket == nullptr) return fail(errno, "open a netlink socket");
  // Errors are ignored, because only the texts of error messages need these options.
  int on = 1;
  mnl_socket_setsockopt(socket, NETLINK_CAP_ACK, &on, sizeof on);
  mnl_socket_setsockopt(socket, NETLINK_EXT_ACK, &on, sizeof on);
  return NetlinkSocket(socket);
}

Result<NetlinkSocket> NetlinkSocket::open_in(Fd network_namespace) {
  OCIRUN_TRY_ASSIGN(const NetlinkSocket here, open());
  OCIRUN_TRY_ASSIGN(const UniqueFd own, here.network_namespace());
  if (::setns(network_namespace.value, CLONE_NEWNET) != 0)
    return fail(errno, "enter the container's network namespace");
  Result<NetlinkSocket> there = open();
  // Otherwise a later socket would belong to the container's namespace instead of the host's.
  if (::setns(own.get(), CLONE_NEWNET) != 0) std::abort();
  return there;
}

Result<UniqueFd> NetlinkSocket::network_namespace() const {
  UniqueFd own(::ioctl(mnl_socket_get_fd(socket_.get()), SIOCGSKNS));
  if (!own) return fail(errno, "open the network namespace of a socket (needs CAP_NET_ADMIN)");
  return own;
}

Result<void> NetlinkSocket::acknowledge(NetlinkMessage& request) const {
  request.header()->nlmsg_flags |= NLM_F_ACK;
  return query(request, [](const nlmsghdr&) {});
}

Result<void> NetlinkSocket::query(NetlinkMessage& request, const Visitor& visit) const {
  const nlmsghdr* header = request.header();
  if (mnl_socket_sendto(socket_.get(), header, header->nlmsg_len) < 0)
    return fail(errno, "send a netlink request");
  Progress progress;
  while (!progress.done) {
    alignas(nlmsghdr) std::array<char, 16384> buffer;
    const ssize_t got = mnl_socket_recvfrom(socket_.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(got < 0 ? errno : EIO, "read a netlink answer");
    const void* answers = buffer.data();  // is aligned
    OCIRUN_TRY(read_answers(static_cast<const nlmsghdr*>(answers), static_cast<int>(got),
                            (header->nlmsg_flags & NLM_F_ACK) != 0, visit, progress));
  }
  if (progress.interrupted) return fail(EAGAIN, "netlink: the list changed while it was read");
  return {};
}

}  // namespace ocirun::linux
