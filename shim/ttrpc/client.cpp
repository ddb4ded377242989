#include "shim/ttrpc/client.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "linux/base/unix_address.hpp"
#include "shim/messages/message.hpp"

namespace ocirun::shim::ttrpc {
namespace {

std::string request(const std::string& service, const std::string& method,
                    std::string_view payload) {
  auto message = new_message<Shim__Request>();
  message.service = in_message(service);
  message.method = in_message(method);
  message.payload = data_in_message(payload);
  return bytes_of(message);
}

}  // namespace

Client::Client(Loop& loop, const std::string& address, Loop::Clock::duration patience)
    : loop_(loop), path_(linux::without_unix_scheme(address)), patience_(patience) {}

Result<void> Client::connect() {
  OCIRUN_TRY_ASSIGN(const sockaddr_un address, linux::unix_address(path_));
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail(errno, "make a socket");
  // EAGAIN: the server has more connections than it accepts now.
  if (::connect(socket.get(), linux::generic(address), sizeof address) != 0)
    return fail(errno, "connect to {}", path_);
  socket_ = std::move(socket);
  reader_ = {};
  next_stream_ = 1;
  return {};
}

Async<Answer> Client::call(std::string service, std::string method, std::string payload) {
  if (!socket_)
    if (const auto connected = connect(); !connected)
      co_return answer_with(Code::kUnavailable, "{}", connected.error().message());
  const std::uint32_t stream = std::exchange(next_stream_, next_stream_ + 2);
  std::string unsent;
  append_frame(unsent, FrameType::kRequest, stream, request(service, method, payload));
  while (!unsent.empty()) {
    const ssize_t count = ::send(socket_.get(), unsent.data(), unsent.size(), MSG_NOSIGNAL);
    if (count > 0) unsent.erase(0, static_cast<std::size_t>(count));
    if (count >= 0 || errno == EINTR) continue;
    if (errno == EAGAIN) {
      const bool has_room = co_await is_ready_within(loop_, socket_, EPOLLOUT, patience_);
      if (has_room) continue;
    }
    socket_.reset();
    co_return answer_with(Code::kUnavailable, "{} does not read", path_);
  }
  const std::optional<Frame> frame = co_await answer_to(stream);
  if (!frame) {
    socket_.reset();
    co_return answer_with(Code::kUnavailable, "{} does not answer", path_);
  }
  if (frame->is_too_long)
    co_return answer_with(Code::kResourceExhausted,
                          "{} answers with {} bytes, at most {} are possible", path_,
                          frame->header.length, kMostMessage);
  const auto response = Received<Shim__Response>::read(frame->message);
  if (!response) co_return answer_with(Code::kUnknown, "{} answers with no response", path_);
  const Shim__Status* const status = (*response)->status;
  if (status != nullptr && status->code != 0)
    co_return std::unexpected(Failure{Code{status->code}, status->message});
  co_return std::string(bytes_of((*response)->payload));
}

Async<std::optional<Frame>> Client::answer_to(std::uint32_t stream) {
  const auto until = Loop::Clock::now() + patience_;
  for (;;) {
    while (auto frame = reader_.next())
      if (frame->header.stream == stream) co_return frame;
    const bool is_ready =
        co_await is_ready_within(loop_, socket_, EPOLLIN, until - Loop::Clock::now());
    if (!is_ready) co_return std::nullopt;
    std::array<char, 4096> piece;
    const ssize_t count = ::read(socket_.get(), piece.data(), piece.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) co_return std::nullopt;
    reader_.add({piece.data(), static_cast<std::size_t>(count)});
  }
}

}  // namespace ocirun::shim::ttrpc
