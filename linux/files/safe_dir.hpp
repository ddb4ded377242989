#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// A directory and everything below it. No symlink, magic link or ".." leads out of it, whoever
/// renames files meanwhile. Uses openat2(2) with RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS; where the
/// kernel refuses openat2, or concurrent renames make it fail again and again, walks the path
/// component by component. Names below a rootfs may be opened only through this class.
class SafeDir {
 public:
  /// The treatment of symlinks in a path. kInside: a symlink is resolved with this directory as
  /// "/". kRefuse: a symlink is an error (ELOOP).
  enum class Symlinks { kInside, kRefuse };

  /// Opens the directory itself (O_PATH). Errors: ENOENT, ENOTDIR, EACCES.
  static Result<SafeDir> open_root(const HostPath& path);
  explicit SafeDir(UniqueFd directory) : directory_(std::move(directory)) {}

  Fd fd() const { return directory_; }

  /// Opens `path`. `flags` as for open(2), without O_CREAT; O_CLOEXEC is added. A trailing symlink
  /// is followed inside the root unless O_NOFOLLOW is given. Errors: ENOENT; ELOOP, also for a
  /// magic link; EXDEV if the file was moved out of the root meanwhile.
  Result<UniqueFd> open(const RootfsPath& path, int flags,
                        Symlinks symlinks = Symlinks::kInside) const;

  /// Called with the O_PATH descriptor of each component before anything is asked of its file
  /// system. An error ends the walk.
  using Check = std::function<Result<void>(Fd)>;
  /// Like open(), by the component walk only. Must give the same results as openat2.
  Result<UniqueFd> open_by_walk(const RootfsPath& path, int flags,
                                Symlinks symlinks = Symlinks::kInside,
                                const Check& check = {}) const;

  /// Opens the directory `path` (O_PATH). Makes it and its missing parents with `mode`. Symlinks
  /// are followed inside the root; the target of a dangling one is made. Errors: ENOTDIR.
  Result<UniqueFd> make_directories(const RootfsPath& path, mode_t mode = 0755) const;

  /// Opens `path` (O_PATH), whatever it is. If it is absent, makes an empty regular file (mode
  /// 0644) and its missing parents (0755), and returns the file open for reading.
  Result<UniqueFd> make_file(const RootfsPath& path) const;

  /// The parent directory of a path (O_PATH) and the last component of the path, for *at calls.
  struct Entry {
    UniqueFd parent;
    std::string name;  // never "", ".", "..", and without "/" and NUL
  };
  /// The path of an entry's parent, and the entry's name. Trailing slashes do not count. Errors:
  /// EINVAL if the last component is missing, "." or "..".
  static Result<std::pair<std::string, std::string>> split(const RootfsPath& path);
  /// Makes missing parents with `mode`. Errors: those of split().
  Result<Entry> entry(const RootfsPath& path, mode_t mode = 0755) const;

 private:
  UniqueFd directory_;
};

}  // namespace ocirun::linux
