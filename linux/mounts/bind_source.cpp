#include "linux/mounts/bind_source.hpp"

#include <cerrno>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {

Result<UniqueFd> open_bind_source(const Procfs& procfs, const Mount& mount) {
  TRY_ASSIGN(UniqueFd source, sys::open(mount.source.c_str(), O_PATH));
  if (mount.source_root.empty()) return source;
  TRY_ASSIGN(const UniqueFd root, sys::open(mount.source_root.c_str(), O_PATH | O_DIRECTORY));
  TRY_ASSIGN(const bool inside, lies_below(procfs, source, root));
  if (inside) return source;
  return fail(ENOENT, "bind {}: a symlink on this path leads out of the root filesystem {}",
              mount.source, mount.source_root);
}

Result<bool> lies_below(const Procfs& procfs, Fd descriptor, Fd top) {
  TRY_ASSIGN(const std::string path, procfs.path_of(descriptor));
  TRY_ASSIGN(const std::string above, procfs.path_of(top));
  return path == above || path.starts_with(above + "/");
}

}  // namespace ocirun::linux
