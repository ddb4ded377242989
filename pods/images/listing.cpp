#include "pods/images/listing.hpp"

#include <fcntl.h>

#include <cerrno>
#include <string_view>

#include "linux/base/syscalls.hpp"

namespace ocirun::pods {

Result<Listing> Listing::open(Fd parent, const char* name) {
  TRY_ASSIGN(UniqueFd directory,
             linux::sys::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  Listing listing;
  listing.stream_.reset(::fdopendir(directory.get()));
  if (!listing.stream_) return linux::sys::last_error("list directory");
  static_cast<void>(directory.release());  // closedir(3) closes it
  return listing;
}

Result<std::optional<std::string>> Listing::next() {
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream_.get());
    if (entry == nullptr && errno != 0) return linux::sys::last_error("list directory");
    if (entry == nullptr) return std::optional<std::string>();
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return std::optional<std::string>(name);
  }
}

}  // namespace ocirun::pods
