#pragma once

// Both ends of ttrpc by hand: a socket that listens, and a peer that sends and reads frames.

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "shim/messages/message.hpp"
#include "shim/ttrpc/frame.hpp"
#include "tests/shim/loop_scene.hpp"

namespace ocirun::test {

inline sockaddr_un socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error(path + " is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

inline UniqueFd listen_at(const std::string& path) {
  const sockaddr_un address = socket_address(path);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), 256) != 0)
    throw std::runtime_error("listen at " + path);
  return socket;
}

inline UniqueFd connect_to(const std::string& path) {
  const sockaddr_un address = socket_address(path);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("connect to " + path);
  return socket;
}

inline std::string frame_of(shim::ttrpc::FrameType type, std::uint32_t stream,
                            std::string_view message) {
  std::string bytes;
  shim::ttrpc::append_frame(bytes, type, stream, message);
  return bytes;
}
inline std::string request_frame(std::uint32_t stream, const std::string& method,
                                 std::string_view payload = {},
                                 const std::string& service = "test.Service") {
  auto message = shim::new_message<Shim__Request>();
  message.service = shim::in_message(service);
  message.method = shim::in_message(method);
  message.payload = shim::data_in_message(payload);
  return frame_of(shim::ttrpc::FrameType::kRequest, stream, shim::bytes_of(message));
}
inline std::string response_frame(std::uint32_t stream, std::string_view payload,
                                  std::int32_t code = 0, const std::string& text = "") {
  auto message = shim::new_message<Shim__Response>();
  auto status = shim::new_message<Shim__Status>();
  status.code = code;
  status.message = shim::in_message(text);
  message.status = &status;
  message.payload = shim::data_in_message(payload);
  return frame_of(shim::ttrpc::FrameType::kResponse, stream, shim::bytes_of(message));
}

/// What a response says. Code -1 and stream 0: the connection was closed.
struct Said {
  std::uint32_t stream = 0;
  int code = -1;
  std::string text, payload;
};

/// One end of a connection.
struct RawPeer {
  LoopScene& scene;
  UniqueFd socket;
  shim::ttrpc::FrameReader reader;

  shim::Async<bool> is_ready(std::uint32_t events) {
    return shim::is_ready_within(scene.loop, socket, events, std::chrono::seconds(kHangSeconds));
  }
  shim::Async<> send(std::string bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count > 0) bytes.erase(0, static_cast<std::size_t>(count));
      if (count >= 0) continue;
      BOOST_TEST(errno == EAGAIN);
      if (errno != EAGAIN) co_return;
      const bool has_room = co_await is_ready(EPOLLOUT);
      BOOST_TEST(has_room);
      if (!has_room) co_return;
    }
  }
  /// The next frame; nothing when the connection is closed.
  shim::Async<std::optional<shim::ttrpc::Frame>> next() {
    for (;;) {
      std::optional<shim::ttrpc::Frame> frame = reader.next();
      if (frame) co_return frame;
      const bool is_readable = co_await is_ready(EPOLLIN);
      BOOST_TEST(is_readable);
      std::array<char, 65536> piece;
      const ssize_t count = ::read(socket.get(), piece.data(), piece.size());
      if (count <= 0) co_return std::nullopt;
      reader.add({piece.data(), static_cast<std::size_t>(count)});
    }
  }
  /// The next response.
  shim::Async<Said> hear() {
    const std::optional<shim::ttrpc::Frame> frame = co_await next();
    Said said;
    if (!frame) co_return said;
    BOOST_TEST(int{frame->header.type} == 2);
    const auto response = shim::Received<Shim__Response>::read(frame->message);
    BOOST_TEST(response.has_value());
    if (!response) co_return said;
    const Shim__Status* const status = (*response)->status;
    said.stream = frame->header.stream;
    said.code = status == nullptr ? 0 : status->code;
    if (status != nullptr) said.text = status->message;
    said.payload = shim::bytes_of((*response)->payload);
    co_return said;
  }
};

}  // namespace ocirun::test
