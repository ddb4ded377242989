#pragma once

#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::shim {

/// The socket on which a runtime gives away the master of a process's terminal (--console-socket).
class ConsoleSocket {
 public:
  /// Listens at `path`, which the object removes when it ends.
  static Result<ConsoleSocket> make(std::string path);
  ConsoleSocket(ConsoleSocket&&) = default;
  ConsoleSocket& operator=(ConsoleSocket&&) = delete;
  ConsoleSocket(const ConsoleSocket&) = delete;
  ConsoleSocket& operator=(const ConsoleSocket&) = delete;
  ~ConsoleSocket();

  const std::string& path() const { return path_; }
  /// The master that the runtime has sent before it ended. Errors: it has sent none.
  Result<UniqueFd> take_master() const;

 private:
  ConsoleSocket(std::string path, UniqueFd socket)
      : path_(std::move(path)), socket_(std::move(socket)) {}
  std::string path_;
  UniqueFd socket_;
};

}  // namespace ocirun::shim
