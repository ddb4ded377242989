#pragma once

#include <sys/stat.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/safe_dir.hpp"
#include "pods/documents/model/host_type.hpp"

namespace ocirun::pods {

/// A file of any kind of the host: the one that was checked, whatever its path names later.
struct HostFile {
  UniqueFd fd;  // of a directory open for reading, else O_PATH
  struct stat info{};
  bool is_directory() const { return S_ISDIR(info.st_mode); }
  bool is_device() const { return S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode); }
};

/// The files and directories that volumes made on the host. The destructor removes those that are
/// still empty, unless keep() was called.
class MadeOnHost {
 public:
  MadeOnHost() = default;
  MadeOnHost(MadeOnHost&&) noexcept = default;
  MadeOnHost& operator=(MadeOnHost&&) noexcept = default;
  MadeOnHost(const MadeOnHost&) = delete;
  MadeOnHost& operator=(const MadeOnHost&) = delete;
  ~MadeOnHost();

  void add(UniqueFd parent, std::string name, const struct stat& info);
  void keep() { entries_.clear(); }

 private:
  struct Entry {
    UniqueFd parent;
    std::string name;
    dev_t device;
    ino_t inode;
  };
  std::vector<Entry> entries_;
};

/// Opens the paths of the host that a pod's volumes name.
class HostPaths {
 public:
  enum class Absent : std::uint8_t { kMake, kLeave };
  /// `writable`: the directories that containers of this pod can write to.
  HostPaths(std::set<std::string> writable, Absent absent)
      : writable_(std::move(writable)), absent_(absent) {}

  /// Opens an absolute path without "..", and makes what `type` says: a directory (0755) with its
  /// missing parents, or a file (0644), of the calling user whatever the umask is. Symlinks are
  /// followed as by the kernel, without magic links; nothing is made through a dangling one. A path
  /// below one of `writable` is resolved inside of that directory, because a container of an
  /// earlier start may have left a symlink there. Nothing: it is absent, and kLeave says not to
  /// make it. Errors: there is something else, or nothing; FileOrCreate lacks the file's directory.
  Result<std::optional<HostFile>> open(const std::string& path, HostType type);

  MadeOnHost take_made() { return std::move(made_); }

 private:
  struct Start {
    linux::SafeDir top;
    std::string path;   // of the file, below `top`
    std::string above;  // one of `writable`; "": `top` is the root directory
  };
  const std::string* writable_above(const std::string& path) const;
  Result<Start> start_of(const std::string& path) const;
  Result<void> make_directories(const Start& start);
  Result<void> make_file(const Start& start);

  std::set<std::string> writable_;
  Absent absent_;
  MadeOnHost made_;
};

}  // namespace ocirun::pods
