#include "pods/images/directories.hpp"

#include <fcntl.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::pods {

namespace sys = linux::sys;

Result<UniqueFd> open_or_make_directory(const HostPath& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY;
  auto found = sys::open(path.c_str(), kFlags);
  if (found || found.error().number() != ENOENT) return found;
  // Symlinks in the operator's own path are followed as the kernel would, from "/".
  TRY_ASSIGN(UniqueFd top, sys::open("/", O_PATH | O_DIRECTORY));
  const linux::SafeDir tree(std::move(top));
  TRY_ASSIGN(const UniqueFd made, tree.make_directories(RootfsPath(path.string()), 0700));
  return sys::openat(made, ".", kFlags);
}

Result<UniqueFd> open_or_make_directory(Fd above, const char* name, mode_t mode) {
  if (auto made = sys::mkdirat(above, name, mode); !made && made.error().number() != EEXIST)
    return std::unexpected(std::move(made).error());
  return sys::openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

}  // namespace ocirun::pods
