#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// A directory and everything below it. No symlink, magic link or ".." leads out of it, whoever
/// renames things meanwhile: openat2(2) with RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS, a component
/// walk where the kernel refuses openat2 or somebody's renames never let it succeed. The only way
/// to name things below a rootfs.
class SafeDir {
 public:
  /// What symlinks within a path mean: kInside, they are resolved with this directory as "/";
  /// kRefuse, one of them is an error (ELOOP).
  enum class Symlinks { kInside, kRefuse };

  /// Opens the directory itself (O_PATH). Errors: ENOENT, ENOTDIR, EACCES.
  static Result<SafeDir> open_root(const HostPath& path);
  explicit SafeDir(UniqueFd directory) : directory_(std::move(directory)) {}

  Fd fd() const { return directory_; }

  /// Opens `path`; `flags` as open(2) without O_CREAT, O_CLOEXEC added. A trailing symlink is
  /// followed inside the root unless O_NOFOLLOW is given. Errors: ENOENT, ELOOP, EXDEV.
  Result<UniqueFd> open(const RootfsPath& path, int flags,
                        Symlinks symlinks = Symlinks::kInside) const;

  /// The same by the component walk alone, which must answer what openat2(2) answers.
  Result<UniqueFd> open_by_walk(const RootfsPath& path, int flags,
                                Symlinks symlinks = Symlinks::kInside) const;

  /// Opens the directory `path` (O_PATH), making it and its missing parents with `mode`. Symlinks,
  /// dangling ones too, are followed inside the root. Errors: ENOTDIR.
  Result<UniqueFd> make_directories(const RootfsPath& path, mode_t mode = 0755) const;

  /// Opens `path` (O_PATH), making an empty regular file (mode 0644) and missing parents (0755) if
  /// absent.
  Result<UniqueFd> make_file(const RootfsPath& path) const;

  /// The parent directory of `path` (O_PATH, made with `mode` if missing) and its last component,
  /// for *at calls. Errors: EINVAL for a path that ends in nothing, "." or "..".
  struct Entry {
    UniqueFd parent;
    std::string name;  // never "", ".", "..", and without "/"
  };
  Result<Entry> entry(const RootfsPath& path, mode_t mode = 0755) const;

 private:
  UniqueFd directory_;
};

}  // namespace ocirun::linux
