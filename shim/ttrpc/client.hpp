#pragma once

#include <string>

#include "shim/loop/async.hpp"
#include "shim/loop/loop.hpp"
#include "shim/ttrpc/frame.hpp"
#include "shim/ttrpc/status.hpp"

namespace ocirun::shim::ttrpc {

/// Calls a server, one call after another. Connects when a call needs it.
class Client {
 public:
  /// `address` is the path of a socket, with or without "unix://".
  Client(Loop& loop, const std::string& address,
         Loop::Clock::duration patience = std::chrono::seconds(10));

  /// Waits for the answer, at most `patience`. Code::kUnavailable: the server is away, does not
  /// answer, or has closed the connection.
  Async<Answer> call(std::string service, std::string method, std::string payload);

 private:
  Result<void> connect();
  /// Waits for a frame of the stream.
  Async<std::optional<Frame>> answer_to(std::uint32_t stream);

  Loop& loop_;
  std::string path_;
  Loop::Clock::duration patience_;
  UniqueFd socket_;
  FrameReader reader_;
  std::uint32_t next_stream_ = 1;
};

}  // namespace ocirun::shim::ttrpc
