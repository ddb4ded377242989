#pragma once

// Trees of files with everything that an image may hold, and a text of all that can be seen of one.

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <map>

#include "pods/images/trees/merge_layers.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

namespace ocirun::test {

inline void want(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what + ": " + errno_text(errno));
}

/// A directory that a test fills.
class Tree {
 public:
  explicit Tree(std::string path) : path_(std::move(path)) {
    want(::mkdir(path_.c_str(), 0755) == 0, path_);
  }
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  UniqueFd open() const {
    return UniqueFd(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  void directory(std::string_view name, mode_t mode = 0755) const {
    want(::mkdir((*this / name).c_str(), 0700) == 0, *this / name);
    mode_is(name, mode);
  }
  void file(std::string_view name, std::string_view text, mode_t mode = 0644) const {
    std::ofstream(*this / name, std::ios::binary) << text;
    mode_is(name, mode);
  }
  void node(std::string_view name, mode_t mode, dev_t device = 0) const {
    want(::mknod((*this / name).c_str(), mode, device) == 0, *this / name);
  }
  void whiteout(std::string_view name) const { node(name, S_IFCHR, makedev(0, 0)); }
  void symlink(std::string_view name, const std::string& target) const {
    want(::symlink(target.c_str(), (*this / name).c_str()) == 0, *this / name);
  }
  void link(std::string_view name, std::string_view old) const {
    want(::link((*this / old).c_str(), (*this / name).c_str()) == 0, *this / name);
  }
  void mode_is(std::string_view name, mode_t mode) const {
    want(::chmod((*this / name).c_str(), mode) == 0, *this / name);
  }
  void owner_is(std::string_view name, uid_t uid, gid_t gid) const {
    want(::lchown((*this / name).c_str(), uid, gid) == 0, *this / name);
  }
  void attribute(std::string_view name, const char* key, std::string_view value) const {
    want(::lsetxattr((*this / name).c_str(), key, value.data(), value.size(), 0) == 0,
         *this / name + " " + key);
  }
  void times_are(std::string_view name, time_t accessed, time_t modified) const {
    const timespec times[2] = {{accessed, 5}, {modified, 6}};
    want(::utimensat(AT_FDCWD, (*this / name).c_str(), times, AT_SYMLINK_NOFOLLOW) == 0,
         *this / name);
  }

  struct stat look(std::string_view name) const {
    struct stat info{};
    want(::lstat((*this / name).c_str(), &info) == 0, *this / name);
    return info;
  }
  bool has(std::string_view name) const {
    struct stat info{};
    return ::lstat((*this / name).c_str(), &info) == 0;
  }

 private:
  std::string path_;
};

/// The extended attributes of a file but overlayfs' own and the label of a security module.
inline std::string attributes_of(const std::string& path) {
  char names[4096];
  const ssize_t size = ::llistxattr(path.c_str(), names, sizeof names);
  want(size >= 0, path);
  std::map<std::string, std::string> found;
  for (const char* name = names; name < names + size; name += std::strlen(name) + 1) {
    const std::string_view view = name;
    if (view.find(".overlay.") != std::string_view::npos || view == "security.selinux") continue;
    char value[4096];
    const ssize_t length = ::lgetxattr(path.c_str(), name, value, sizeof value);
    want(length >= 0, path + " " + name);
    found[name] = std::string(value, static_cast<std::size_t>(length));
  }
  std::string text;
  for (const auto& [name, value] : found) text += fmt::format(" {}={:?}", name, value);
  return text;
}

/// One line for each file: kind, mode, owner, times of change, content, attributes. Files that are
/// one inode have the same number.
inline std::vector<std::string> description(const std::string& top) {
  std::vector<std::string> paths{top};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> lines;
  std::map<ino_t, std::size_t> inodes;
  for (const std::string& path : paths) {
    struct stat info{};
    want(::lstat(path.c_str(), &info) == 0, path);
    std::string line =
        fmt::format("{:?} {:o} {}:{} {}.{}", path.substr(top.size()), info.st_mode, info.st_uid,
                    info.st_gid, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    if (S_ISREG(info.st_mode)) line += fmt::format(" {:?}", slurp(path));
    if (S_ISLNK(info.st_mode)) line += " -> " + std::filesystem::read_symlink(path).string();
    if (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)) line += fmt::format(" {}", info.st_rdev);
    if (!S_ISDIR(info.st_mode))
      line += fmt::format(" #{}", inodes.emplace(info.st_ino, inodes.size()).first->second);
    lines.push_back(line + attributes_of(path));
  }
  return lines;
}

}  // namespace ocirun::test
