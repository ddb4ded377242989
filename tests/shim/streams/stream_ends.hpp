#pragma once

// The ends of streams that a container and a client have in the tests of streams.

#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string>
#include <string_view>

#include "linux/base/syscalls.hpp"
#include "tests/shim/loop_scene.hpp"

namespace ocirun::test {

struct StreamScene : LoopScene {
  Scratch scratch;
  void (*former_sigpipe)(int) = ::signal(SIGPIPE, SIG_IGN);  // as in the shim
  ~StreamScene() { ::signal(SIGPIPE, former_sigpipe); }
  StreamScene() = default;
  StreamScene(const StreamScene&) = delete;
  StreamScene& operator=(const StreamScene&) = delete;

  std::string fifo(std::string_view name) const {
    std::string path = scratch / name;
    if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("mkfifo " + path);
    return path;
  }
  static UniqueFd reader_of(const std::string& path) {
    return must(linux::sys::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  static UniqueFd writer_of(const std::string& path) {
    return must(linux::sys::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }
  /// A copy that does not block. The open file does not block then either.
  static UniqueFd copy_of(Fd descriptor) {
    UniqueFd copy(::fcntl(descriptor.value, F_DUPFD_CLOEXEC, 3));
    ::fcntl(copy.get(), F_SETFL, ::fcntl(copy.get(), F_GETFL) | O_NONBLOCK);
    return copy;
  }

  shim::Async<> write_slowly(Fd descriptor, std::string_view bytes, std::size_t piece = 65536) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor.value, bytes.data(), std::min(piece, bytes.size()));
      if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
      if (count >= 0) continue;
      BOOST_TEST(errno == EAGAIN);
      if (errno != EAGAIN) co_return;
      co_await let_work(1);
    }
  }
  /// Reads `size` bytes, or to the end if there are fewer.
  shim::Async<std::string> read_slowly(Fd descriptor, std::size_t size = std::size_t{1} << 30,
                                       std::size_t piece = 65536) {
    std::string bytes, buffer(piece, '\0');
    const auto until = shim::Loop::Clock::now() + std::chrono::seconds(kHangSeconds);
    while (bytes.size() < size) {
      const ssize_t count =
          ::read(descriptor.value, buffer.data(), std::min(piece, size - bytes.size()));
      if (count > 0) bytes.append(buffer, 0, static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno != EAGAIN)) break;
      const bool is_late = shim::Loop::Clock::now() > until;
      BOOST_TEST(!is_late);
      if (is_late) break;
      co_await let_work(1);
    }
    co_return bytes;
  }
};

/// Bytes among which no two places look alike.
inline std::string unlike_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1664525 + 1013904223;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

}  // namespace ocirun::test
