#include "linux/base/directory_entries.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {

Result<void> for_each_entry(
    Fd directory, const std::function<Result<void>(const char* name, unsigned char type)>& visit) {
  TRY_ASSIGN(UniqueFd listing, sys::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  const std::unique_ptr<DIR, decltype([](DIR* stream) { ::closedir(stream); })> stream(
      ::fdopendir(listing.get()));
  if (!stream) return sys::last_error("list directory");
  static_cast<void>(listing.release());  // closedir(3) closes it
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr && errno != 0) return sys::last_error("list directory");
    if (entry == nullptr) return {};
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") TRY(visit(entry->d_name, entry->d_type));
  }
}

}  // namespace ocirun::linux
