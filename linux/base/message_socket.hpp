#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// A packet between two processes of ocirun: a tag, bytes, descriptors.
struct Packet {
  std::uint8_t tag = 0;
  std::string payload;
  std::vector<UniqueFd> descriptors;
  bool end_of_stream = false;  // the other side has closed its end
};

/// What recvmsg(2) has received.
struct Received {
  std::size_t bytes = 0;
  int flags = 0;  // MSG_TRUNC, MSG_CTRUNC …
  std::vector<UniqueFd> descriptors;
};
/// Receives into `buffer`. The descriptors of the message, of which none leaks, are closed on
/// execve. EINTR is retried.
Result<Received> receive_message(Fd socket, std::span<char> buffer);

/// The system calls that move packets. Under a seccomp filter that hands sendmsg(2) or recvmsg(2)
/// to an agent, write(2) and read(2) move packets without descriptors instead.
enum class SendBy : std::uint8_t { kSocketCall, kWrite };
enum class ReceiveBy : std::uint8_t { kSocketCall, kRead };

/// One end of a SOCK_SEQPACKET socket pair. A packet has at most kMaxPayload bytes and
/// kMaxDescriptors descriptors. Receiving a truncated packet is an error: its rest is never
/// silently lost.
class MessageSocket {
 public:
  static constexpr std::size_t kMaxPayload = 60 * 1024;
  static constexpr std::size_t kMaxDescriptors = 253;  // SCM_MAX_FD

  static Result<std::pair<MessageSocket, MessageSocket>> make_pair();
  MessageSocket() = default;
  explicit MessageSocket(UniqueFd socket) : socket_(std::move(socket)) {}

  /// Errors: EPIPE when the other side has closed its end (no SIGPIPE), EMSGSIZE.
  Result<void> send(std::uint8_t tag, std::string_view payload = {},
                    std::span<const Fd> descriptors = {}) const;
  /// Waits for one packet. Not for two threads at once. Errors: EMSGSIZE, EBADMSG (descriptors
  /// without a byte).
  Result<Packet> receive() const;

  /// Sets the calls for all later packets. With kWrite, write(2) sends each packet without
  /// descriptors, and raises SIGPIPE if the other end is closed; sendmsg(2) still sends the packets
  /// with descriptors. With kRead, no descriptors arrive.
  void talk_by(SendBy send_by, ReceiveBy receive_by) {
    send_by_ = send_by;
    receive_by_ = receive_by;
  }

  Fd fd() const { return socket_; }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
  SendBy send_by_ = SendBy::kSocketCall;
  ReceiveBy receive_by_ = ReceiveBy::kSocketCall;
};

}  // namespace ocirun::linux
