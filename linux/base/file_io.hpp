#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Replaces the file `name` in `directory` atomically: readers see the whole old file or the whole
/// new one. Every write is checked. On error the old file stays, and no temporary file is left.
Result<void> replace_file(Fd directory, const std::string& name, std::string_view content,
                          mode_t mode);
/// Opens the directory of the file `path`. Errors: EISDIR when `path` names no file.
Result<UniqueFd> open_parent(const HostPath& path);
/// Like the other replace_file(). A relative path is relative to the working directory.
Result<void> replace_file(const HostPath& path, std::string_view content, mode_t mode);

/// Reads a regular file of at most `limit` bytes. Any other kind of file is an error and never
/// makes the call wait. `flags`: additional flags for open(2), such as O_NOFOLLOW.
Result<std::string> read_file(Fd directory, const std::string& name, std::size_t limit,
                              int flags = 0);

/// Writes all of `data`, in as many write(2) calls as needed.
Result<void> write_all(Fd fd, std::string_view data);

/// Calls `visit` with the name and the type (DT_*) of each entry of `directory` except "." and
/// "..", in the kernel's order. An error of `visit` ends the walk. `directory` may be O_PATH, and
/// its offset does not change. The entries are not collected in memory, however many there are.
Result<void> for_each_entry(
    Fd directory, const std::function<Result<void>(const char* name, unsigned char type)>& visit);

/// Whether the entry that for_each_entry() shows is a directory. A symlink to one is none.
bool is_directory(Fd directory, const char* name, unsigned char type);

inline constexpr unsigned kNeverExecuted = 0x0008;  // MFD_NOEXEC_SEAL, since Linux 6.3
/// A file in memory for data, closed on execve. `flags`: additional flags for memfd_create(2).
/// kNeverExecuted is left out where the kernel does not know it, and added where sysctl
/// vm.memfd_noexec demands it.
Result<UniqueFd> make_memory_file(const char* name, unsigned flags = 0);

struct Pipe {
  UniqueFd reader, writer;
};

/// A pipe whose ends are both closed on execve.
inline Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail(errno, "make a pipe");
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// Sets O_NONBLOCK: reads and writes of the open file fail with EAGAIN instead of waiting, also
/// those by other descriptors of the open file.
inline Result<void> set_nonblocking(Fd fd) {
  const int flags = ::fcntl(fd.value, F_GETFL);
  if (flags >= 0 && ::fcntl(fd.value, F_SETFL, flags | O_NONBLOCK) == 0) return {};
  return fail(errno, "make a descriptor nonblocking");
}

}  // namespace ocirun::linux
