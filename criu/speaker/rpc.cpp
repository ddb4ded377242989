#include "criu/speaker/rpc.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <vector>

#include "linux/base/message_socket.hpp"

namespace ocirun::linux {
Result<void> send_request(Fd socket, const Criu__Request& request) {
  std::vector<std::uint8_t> bytes(criu__request__get_packed_size(&request));
  criu__request__pack(&request, bytes.data());
  for (;;) {
    if (::send(socket.value, bytes.data(), bytes.size(), MSG_NOSIGNAL) >= 0) return {};
    if (errno == EPIPE) return fail(EPIPE, "criu ended without an answer");
    if (errno != EINTR) return fail(errno, "send a request to criu");
  }
}

Result<CriuAnswer> parse_answer(std::string_view bytes) {
  // The cast is safe: unpacking reads bytes.
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  CriuAnswer answer;
  answer.message.reset(criu__response__unpack(nullptr, bytes.size(), data));
  if (!answer.message) return fail(EBADMSG, "the answer of criu is no message of its protocol");
  return answer;
}

Result<CriuAnswer> receive_answer(Fd socket) {
  std::vector<char> buffer(kMaxCriuAnswer);
  auto received = receive_message(socket, buffer);
  if (!received && received.error().number() != ECONNRESET)
    return within<CriuAnswer>(std::unexpected(received.error()), "the answer of criu");
  if (!received || received->bytes == 0) return fail(EPIPE, "criu ended without an answer");
  if ((received->flags & MSG_TRUNC) != 0)
    return fail(EMSGSIZE, "the answer of criu is larger than {} bytes", kMaxCriuAnswer);
  OCIRUN_TRY_ASSIGN(CriuAnswer answer,
                    parse_answer(std::string_view(buffer.data(), received->bytes)));
  if (!received->descriptors.empty()) answer.descriptor = std::move(received->descriptors.front());
  return answer;
}

}  // namespace ocirun::linux
