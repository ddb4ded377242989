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
  /// Waits for one packet. Errors: EMSGSIZE, EBADMSG (descriptors without a byte).
  Result<Packet> receive() const;

  Fd fd() const { return socket_; }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
};

}  // namespace ocirun::linux
