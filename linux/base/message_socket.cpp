#include "linux/base/message_socket.hpp"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ocirun::linux {
namespace {

Result<void> send_by_write(Fd socket, std::uint8_t tag, std::string_view payload) {
  std::string packet(1, static_cast<char>(tag));
  packet += payload;
  for (;;) {
    if (::write(socket.value, packet.data(), packet.size()) >= 0) return {};
    if (errno != EINTR) return fail(errno, "send a message");
  }
}

Result<Received> receive_by_read(Fd socket, std::span<char> buffer) {
  for (;;) {
    const ssize_t count = ::read(socket.value, buffer.data(), buffer.size());
    if (count >= 0) return Received{static_cast<std::size_t>(count), 0, {}};
    if (errno != EINTR) return fail(errno, "receive a message");
  }
}

}  // namespace

Result<Received> receive_message(Fd socket, std::span<char> buffer) {
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * MessageSocket::kMaxDescriptors)>
      control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t count = -1;
  do {
    count = ::recvmsg(socket.value, &header, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return fail(errno, "receive a message");
  Received received{static_cast<std::size_t>(count), header.msg_flags, {}};
  for (cmsghdr* entry = CMSG_FIRSTHDR(&header); entry != nullptr;
       entry = CMSG_NXTHDR(&header, entry)) {
    if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t number = (entry->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < number; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(entry) + i * sizeof(int), sizeof(int));
      received.descriptors.emplace_back(fd);
    }
  }
  return received;
}

Result<std::pair<MessageSocket, MessageSocket>> MessageSocket::make_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(errno, "make a socket pair");
  return std::pair(MessageSocket(UniqueFd(ends[0])), MessageSocket(UniqueFd(ends[1])));
}

Result<void> MessageSocket::send(std::uint8_t tag, std::string_view payload,
                                 std::span<const Fd> descriptors) const {
  if (payload.size() > kMaxPayload || descriptors.size() > kMaxDescriptors)
    return fail(EMSGSIZE, "send a message of {} bytes and {} descriptors", payload.size(),
                descriptors.size());
  if (send_by_ == SendBy::kWrite && descriptors.empty())
    return send_by_write(socket_, tag, payload);
  // The const_cast is safe: sendmsg(2) does not write through iov_base.
  std::array parts{iovec{&tag, 1}, iovec{const_cast<char*>(payload.data()), payload.size()}};
  msghdr header{};
  header.msg_iov = parts.data();
  header.msg_iovlen = parts.size();

  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control;
  if (!descriptors.empty()) {
    const std::size_t bytes = descriptors.size() * sizeof(int);
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), descriptors.data(), bytes);
  }
  for (;;) {
    if (::sendmsg(socket_.get(), &header, MSG_NOSIGNAL) >= 0) return {};
    if (errno != EINTR) return fail(errno, "send a message");
  }
}

Result<Packet> MessageSocket::receive() const {
  Packet packet;
  // Static: pages that no message fills are never touched, nor charged to the memory limit of a
  // small container, and no brk(2) makes room on the heap.
  static std::array<char, kMaxPayload + 1> buffer;
  // Every packet fits into the buffer: read(2) would not report a truncated packet.
  auto received = receive_by_ == ReceiveBy::kRead ? receive_by_read(socket_, buffer)
                                                  : receive_message(socket_, buffer);
  if (!received && received.error().number() != ECONNRESET)
    return std::unexpected(std::move(received).error());
  if (received && received->bytes == 0 && !received->descriptors.empty())
    return fail(EBADMSG, "receive a message: it is empty");
  if (!received || received->bytes == 0) {
    packet.end_of_stream = true;
    return packet;
  }
  if ((received->flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return fail(EMSGSIZE, "receive a message: it arrived truncated");
  packet.tag = static_cast<std::uint8_t>(buffer[0]);
  packet.payload.assign(&buffer[1], received->bytes - 1);
  packet.descriptors = std::move(received->descriptors);
  return packet;
}

}  // namespace ocirun::linux
