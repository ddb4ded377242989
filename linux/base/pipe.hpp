#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

struct Pipe {
  UniqueFd reader, writer;
};

/// A pipe whose ends are both closed on execve.
inline Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno, "make a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace ocirun::linux
