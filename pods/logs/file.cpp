#include "pods/logs/file.hpp"

#include "linux/base/syscalls.hpp"

namespace ocirun::pods {

std::string log_file_name(const std::string& name, unsigned age) {
  return age == 0 ? name + ".log" : fmt::format("{}.log.{}", name, age);
}

Result<UniqueFd> open_log_file(Fd directory, const std::string& file, int flags) {
  if (file.find('/') != std::string::npos || file.find('\0') != std::string::npos)
    return refuse("\"{}\" cannot be a log's name: a name has no slash and no NUL", file);
  // O_NONBLOCK: the open does not wait for the other end of a fifo.
  TRY_ASSIGN(UniqueFd fd,
             linux::sys::openat(directory, file.c_str(),
                                flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  TRY_ASSIGN(const struct stat info, linux::sys::fstat(fd));
  if (!S_ISREG(info.st_mode))
    return refuse("the log {} must be a regular file: remove what is there", file);
  return fd;
}

}  // namespace ocirun::pods
