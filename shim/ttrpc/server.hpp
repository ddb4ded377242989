#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "shim/loop/async.hpp"
#include "shim/loop/loop.hpp"
#include "shim/ttrpc/frame.hpp"
#include "shim/ttrpc/status.hpp"

namespace ocirun::shim::ttrpc {

/// Answers one call. `payload` is the bytes of the request's message.
using Handler =
    std::function<Async<Answer>(std::string service, std::string method, std::string payload)>;

/// Accepts connections on a socket, and answers calls. Many calls of one connection are worked on
/// at once; the answers come in the order in which they are ready.
class Server {
 public:
  /// `socket` listens.
  Server(Loop& loop, UniqueFd socket, Handler handler);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Begins to accept. Errors: those of Loop::watch().
  Result<void> start();
  bool has_clients() const { return !connections_.empty(); }

 private:
  class Connection;
  void accept();

  Loop& loop_;
  UniqueFd socket_;
  Handler handler_;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
};

}  // namespace ocirun::shim::ttrpc
