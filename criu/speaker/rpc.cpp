#include "criu/speaker/rpc.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace ocirun::linux {
namespace {

// Takes over all descriptors of the message, so that none leaks, and keeps the first one.
UniqueFd take_descriptor(msghdr& header) {
  UniqueFd kept;
  for (cmsghdr* entry = CMSG_FIRSTHDR(&header); entry != nullptr;
       entry = CMSG_NXTHDR(&header, entry)) {
    if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (entry->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(entry) + i * sizeof(int), sizeof(int));
      UniqueFd descriptor(number);
      if (!kept) kept = std::move(descriptor);
    }
  }
  return kept;
}

}  // namespace

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
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 8)> control;
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  ssize_t count = -1;
  do {
    count = ::recvmsg(socket.value, &header, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  if (count < 0 && errno != ECONNRESET) return fail(errno, "receive an answer of criu");
  if (count <= 0) return fail(EPIPE, "criu ended without an answer");
  UniqueFd descriptor = take_descriptor(header);
  if ((header.msg_flags & MSG_TRUNC) != 0)
    return fail(EMSGSIZE, "the answer of criu is larger than {} bytes", kMaxCriuAnswer);
  OCIRUN_TRY_ASSIGN(CriuAnswer answer,
                    parse_answer(std::string_view(buffer.data(), static_cast<std::size_t>(count))));
  answer.descriptor = std::move(descriptor);
  return answer;
}

}  // namespace ocirun::linux
