#include "linux/files/directories.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::linux {

Result<UniqueFd> open_or_make_directory(const HostPath& path) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY;
  auto found = sys::open(path.c_str(), kFlags);
  if (found || found.error().number() != ENOENT) return found;
  // Symlinks in the operator's own path are followed as the kernel would, from "/".
  OCIRUN_TRY_ASSIGN(UniqueFd top, sys::open("/", O_PATH | O_DIRECTORY));
  const SafeDir tree(std::move(top));
  OCIRUN_TRY_ASSIGN(const UniqueFd made, tree.make_directories(RootfsPath(path.string()), 0700));
  return sys::openat(made, ".", kFlags);
}

Result<UniqueFd> open_or_make_directory(Fd above, const char* name, mode_t mode) {
  if (auto made = sys::mkdirat(above, name, mode); !made && made.error().number() != EEXIST)
    return std::unexpected(std::move(made).error());
  return sys::openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

namespace {

constexpr int kLevels = 16;  // each holds two descriptors

/// Opens a directory, and gives its owner all rights. A mode such as 0 would keep out an owner who
/// is not root, and moving a directory also writes to it. Follows no symlink: a container that has
/// the directory open may put one in its place at any moment.
Result<UniqueFd> open_for_owner(Fd parent, const char* name) {
  constexpr int kFlags = O_DIRECTORY | O_NOFOLLOW;
  auto opened = sys::openat(parent, name, O_RDONLY | kFlags);
  if (opened) {
    OCIRUN_TRY(sys::fchmod(*opened, 0700));
    return opened;
  }
  if (opened.error().number() != EACCES) return opened;
  // Changing the mode through O_PATH needs /proc. The process that unpacks a layer does not see
  // /proc, but is root and does not come here.
  OCIRUN_TRY_ASSIGN(const UniqueFd place, sys::openat(parent, name, O_PATH | kFlags));
  OCIRUN_TRY(sys::fchmod(place, 0700));
  return sys::openat(place, ".", O_RDONLY | kFlags);
}

/// Removes the content of a directory, `kLevels` levels at a time. Moves deeper directories to a
/// new directory at the top, and removes the new directory afterwards. So each entry is removed
/// once, and moved once for `kLevels` levels, however deep or wide the tree is.
class Removal {
 public:
  explicit Removal(Fd top) : top_(top) {}

  Result<void> run() {
    OCIRUN_TRY(empty(top_, 0));
    while (!deeper_name_.empty()) {
      const std::string name = std::exchange(deeper_name_, "");
      const UniqueFd directory = std::move(deeper_);
      OCIRUN_TRY(empty(directory, 0));
      OCIRUN_TRY(sys::unlinkat(top_, name.c_str(), AT_REMOVEDIR));
    }
    return {};
  }

 private:
  // Entries are removed while they are listed. A filesystem might skip an entry because of that, so
  // that the directory is listed until it is empty.
  Result<void> empty(Fd directory, int level) {
    for (;;) {
      bool found = false;
      OCIRUN_TRY(
          for_each_entry(directory, [&](const char* name, unsigned char type) -> Result<void> {
            if (directory.value == top_.value && name == deeper_name_) return {};
            found = true;
            return remove(directory, name, type, level);
          }));
      if (!found) return {};
    }
  }

  Result<void> remove(Fd parent, const char* name, unsigned char type, int level) {
    if (type == DT_UNKNOWN) {
      OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstatat(parent, name));
      type = S_ISDIR(info.st_mode) ? DT_DIR : DT_REG;
    }
    if (type != DT_DIR) return sys::unlinkat(parent, name, 0);
    {
      OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_for_owner(parent, name));
      if (level == kLevels) return move_to_top(parent, name);
      OCIRUN_TRY(empty(directory, level + 1));
    }
    return sys::unlinkat(parent, name, AT_REMOVEDIR);
  }

  Result<void> move_to_top(Fd parent, const char* name) {
    if (deeper_name_.empty()) OCIRUN_TRY(make_deeper());
    return sys::renameat2(parent, name, deeper_, fmt::format("{}", number_++).c_str(),
                          RENAME_NOREPLACE);
  }

  Result<void> make_deeper() {
    for (;;) {
      std::string name = fmt::format(".deeper-{}", number_++);
      const auto made = sys::mkdirat(top_, name.c_str(), 0700);
      if (!made && made.error().number() == EEXIST) continue;
      OCIRUN_TRY(made);
      OCIRUN_TRY_ASSIGN(deeper_,
                        sys::openat(top_, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
      deeper_name_ = std::move(name);
      return {};
    }
  }

  Fd top_;
  UniqueFd deeper_;
  std::string deeper_name_;  // of `deeper_` in `top_`; "" while there is none
  std::uint64_t number_ = 0;
};

}  // namespace

Result<void> remove_content(Fd directory) { return Removal(directory).run(); }

Result<void> remove_tree(Fd directory, const char* name) {
  const auto info = sys::fstatat(directory, name);
  if (!info && info.error().number() == ENOENT) return {};
  if (!info) return std::unexpected(info.error());
  if (!S_ISDIR(info->st_mode)) return sys::unlinkat(directory, name, 0);
  {
    OCIRUN_TRY_ASSIGN(const UniqueFd opened, open_for_owner(directory, name));
    OCIRUN_TRY(remove_content(opened));
  }
  return sys::unlinkat(directory, name, AT_REMOVEDIR);
}

}  // namespace ocirun::linux
