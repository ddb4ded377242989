#include "pods/surroundings/pid_file.hpp"

#include <fcntl.h>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods {

Result<int> read_pid_file(const std::string& path) {
  constexpr std::size_t kMostBytes = 32;
  auto read = [&]() -> Result<int> {
    TRY_ASSIGN(const UniqueFd file, linux::sys::open(path.c_str(), O_RDONLY | O_NOFOLLOW));
    TRY_ASSIGN(const std::string text, linux::sys::read_all(file, kMostBytes));
    const auto pid = linux::number<int>(std::string_view(text).substr(0, text.find('\n')));
    if (!pid || *pid <= 1) return refuse("has no pid");
    return *pid;
  }();
  return within(std::move(read), path);
}

}  // namespace ocirun::pods
