#pragma once

#include <cstddef>

namespace ocirun::linux {

/// The most bytes that execve(2) takes. Beyond them, execve(2) fails with E2BIG.
struct ExecLimits {
  std::size_t string = 0;  // an argument or a variable, without its NUL: 32 pages less one byte
  /// All arguments and variables, each with its NUL and a pointer to it: a quarter of RLIMIT_STACK,
  /// at least 128 KiB and at most 6 MiB.
  std::size_t all = 0;

  /// The limits for programs that this process starts.
  static ExecLimits here();
  /// The bytes that a string of `size` bytes takes of `all`.
  static constexpr std::size_t cost(std::size_t size) { return size + 1 + sizeof(void*); }
};

}  // namespace ocirun::linux
