#include "shim/ttrpc/server.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "shim/messages/message.hpp"

namespace ocirun::shim::ttrpc {
namespace {

// The bytes of unsent answers from which on the server reads no more calls of a client.
constexpr std::size_t kMostUnsent = 2 * kMostMessage;
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{100};

std::string response(const Answer& answer) {
  auto message = new_message<Shim__Response>();
  auto status = new_message<Shim__Status>();
  if (answer) {
    message.payload = data_in_message(*answer);
  } else {
    status.code = static_cast<std::int32_t>(answer.error().code);
    status.message = in_message(answer.error().message);
    message.status = &status;
  }
  return bytes_of(message);
}

}  // namespace

/// The connection of one client. The calls that are worked on keep the object alive, and drop their
/// answers if the connection was closed meanwhile.
class Server::Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Server& server, UniqueFd socket) : server_(&server), socket_(std::move(socket)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() = default;

  Result<void> start() {
    return server_->loop_.watch(socket_, EPOLLIN, [this](std::uint32_t events) { serve(events); });
  }

  void close() {
    if (!socket_) return;
    server_->loop_.forget(socket_);
    socket_.reset();
  }

 private:
  void serve(std::uint32_t events) {
    const auto self = shared_from_this();  // drop() may take the last other owner
    if ((events & EPOLLOUT) != 0) write();
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read();
  }

  void drop() {
    close();
    server_->connections_.erase(shared_from_this());
  }

  void read() {
    if (!socket_) return;
    std::array<char, 16384> buffer;
    const ssize_t count = ::read(socket_.get(), buffer.data(), buffer.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return drop();
    reader_.add({buffer.data(), static_cast<std::size_t>(count)});
    while (auto frame = reader_.next()) take(*std::move(frame));
  }

  void take(Frame frame) {
    const std::uint32_t stream = frame.header.stream;
    if (frame.is_too_long)
      return answer(stream, answer_with(Code::kResourceExhausted,
                                        "the message has {} bytes, at most {} are possible",
                                        frame.header.length, kMostMessage));
    if (frame.header.type != static_cast<std::uint8_t>(FrameType::kRequest)) return;
    if (stream % 2 == 0)
      return answer(stream, answer_with(Code::kInvalidArgument,
                                        "stream {}: a client's streams are odd", stream));
    const auto request = Received<Shim__Request>::read(frame.message);
    if (!request)
      return answer(stream, answer_with(Code::kInvalidArgument, "this is no request of ttrpc"));
    go(call(shared_from_this(), stream, (*request)->service, (*request)->method,
            std::string(bytes_of((*request)->payload))));
  }

  static Async<> call(std::shared_ptr<Connection> self, std::uint32_t stream, std::string service,
                      std::string method, std::string payload) {
    const Answer given =
        co_await self->server_->handler_(std::move(service), std::move(method), std::move(payload));
    self->answer(stream, given);
  }

  void answer(std::uint32_t stream, const Answer& given) {
    if (!socket_) return;
    std::string message = response(given);
    if (message.size() > kMostMessage)
      message = response(answer_with(Code::kResourceExhausted,
                                     "the answer has {} bytes, at most {} are possible",
                                     message.size(), kMostMessage));
    append_frame(unsent_, FrameType::kResponse, stream, message);
    write();
  }

  void write() {
    while (socket_ && !unsent_.empty()) {
      const ssize_t count = ::send(socket_.get(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) break;
      if (count < 0) return drop();
      unsent_.erase(0, static_cast<std::size_t>(count));
    }
    if (unsent_.empty()) unsent_.shrink_to_fit();
    const std::uint32_t wanted = (unsent_.size() < kMostUnsent ? std::uint32_t{EPOLLIN} : 0) |
                                 (unsent_.empty() ? 0 : std::uint32_t{EPOLLOUT});
    if (!socket_ || wanted == wanted_) return;
    wanted_ = wanted;
    ignore(server_->loop_.change(socket_, wanted));  // fails only for an unwatched descriptor
  }

  Server* server_;
  UniqueFd socket_;
  FrameReader reader_;
  std::string unsent_;
  std::uint32_t wanted_ = EPOLLIN;
};

Server::Server(Loop& loop, UniqueFd socket, Handler handler)
    : loop_(loop), socket_(std::move(socket)), handler_(std::move(handler)) {}

Server::~Server() {
  loop_.forget(socket_);
  for (const auto& connection : connections_) connection->close();
}

Result<void> Server::start() {
  return loop_.watch(socket_, EPOLLIN, [this](std::uint32_t) { accept(); });
}

void Server::accept() {
  UniqueFd client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!client) {  // the client has left, or waits until a descriptor is free for it
    if (errno != EMFILE && errno != ENFILE) return;
    loop_.forget(socket_);
    loop_.after(kPauseWithoutDescriptors, [this] { ignore(start()); });
    return;
  }
  auto connection = std::make_shared<Connection>(*this, std::move(client));
  if (connection->start()) connections_.insert(std::move(connection));
}

}  // namespace ocirun::shim::ttrpc
