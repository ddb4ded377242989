#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::cgroups {

/// The directory that walk() is visiting: a name for *at calls relative to `parent`.
struct WalkEntry {
  Fd parent;
  const std::string& name;
};

/// An extended attribute of a container's cgroup (record.hpp).
struct Mark {
  std::string text;              // empty: none
  bool written_by_root = false;  // only CAP_SYS_ADMIN on the host can write it
};

/// One cgroup's directory in one hierarchy, opened once (O_PATH, never through a symlink). Its
/// files are opened relative to that descriptor, wherever the directory is mounted. In cgroups/,
/// only directory.cpp makes raw system calls on file names; all of them are names in cgroupfs.
class Directory {
 public:
  static Result<Directory> open(const std::string& path);
  /// Opens the directory that walk() is visiting.
  static Result<Directory> open_entry(const WalkEntry& entry);

  Fd fd() const { return fd_; }
  /// Checks that the open directory is in a cgroupfs. Errors: another filesystem.
  Result<void> check_filesystem() const;
  const std::string& path() const { return path_; }

  Result<UniqueFd> open_file(const std::string& file, int flags) const;
  /// The whole text, at most 16 MiB.
  Result<std::string> read(const std::string& file) const;
  /// The file's text without the newline at its end; empty where the file cannot be read.
  std::string read_or_empty(const std::string& file) const;
  /// Writes `value` with a single write(2).
  Result<void> write(const std::string& file, std::string_view value) const;
  /// The names of the cgroup's files, in no order; none if the directory cannot be listed.
  std::vector<std::string> files() const;
  /// Whether there are nested cgroups (cgroupfs counts them as hard links).
  bool has_children() const;
  /// The note on this cgroup: the controllers that containers of ocirun have enabled in its
  /// cgroup.subtree_control, and that the last of these containers disables (an extended attribute;
  /// v2, Linux 5.7). Empty if there is no note or it cannot be read.
  std::string note() const;
  /// Replaces the note. An empty text removes it.
  Result<void> write_note(const std::string& text) const;
  /// The mark, which says which container the cgroup belongs to (record.hpp).
  Result<Mark> mark() const;
  /// Whether systemd has marked the cgroup as delegated to its processes (Delegate=yes): they may
  /// make cgroups below, and systemd leaves these alone. The managers of users write no such mark.
  bool has_delegation_mark() const;

 private:
  Directory(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  UniqueFd fd_;
  std::string path_;
};

/// Opens one file of the cgroup at `path`, or the cgroup itself ("."), in one call where
/// Directory::open() and open_file() take two. A cgroupfs has no symlinks. Unlike open_file(),
/// restores no permissions that the container has removed. Errors: those of open(2).
Result<UniqueFd> open_file_of(const std::string& path, const std::string& file, int flags);

/// Whether make_directory() made the cgroup. The first access to a file of a new cgroup is slow,
/// because the kernel makes an inode. After kNew, callers read the file of the parent instead if it
/// says the same.
enum class Made { kNew, kExisted };
/// mkdir(2), mode 0755.
Result<Made> make_directory(const std::string& path);
/// rmdir(2). A missing directory is no error. EBUSY: the cgroup holds processes or nested cgroups.
Result<void> remove_directory(const std::string& path);

/// Writes the mark of the cgroup at `path` (Directory::mark()).
Result<void> write_mark(const std::string& path, const std::string& text);

/// Notes on a directory, as an extended attribute, that ocirun made it as the parent of a
/// container's cgroup. Such a directory is removed with the last container below it. On a kernel
/// without such attributes the directory stays.
void note_as_made(const std::string& path);
bool is_noted_as_made(const std::string& path);

struct Found {
  std::uint32_t owner = 0;
};
/// The owner of the cgroup directory `path`; nothing if there is none. Errors: `path` is on another
/// filesystem, or is no directory.
Result<std::optional<Found>> find_directory(const std::string& path);

/// Whether nothing has the name `path`. False if the kernel refuses the look-up for another reason.
bool does_not_exist(const std::string& path);
/// Checks `path` with a single system call. Accepts symlinks and files, which Directory::open(),
/// walk() and remove_directory() refuse. Errors: `path` is on a filesystem that is no cgroupfs, or
/// cannot be looked at. A missing path is no error.
Result<void> check_is_in_cgroupfs(const std::string& path);

/// Calls `visit` for every cgroup below `root` and then for `root` itself, children before parents.
/// Containers nest cgroups as deep and as wide as they like, so neither the stack nor the number of
/// descriptors grows with them. Cgroups that vanish meanwhile are skipped. The walk ends at the
/// first error of `visit`, and at a cgroup that may not be listed unless `unreadable` says to skip
/// it.
enum class Unreadable { kIsAnError, kIsPassedOver };
Result<void> walk(const std::string& root,
                  const std::function<Result<void>(const WalkEntry&)>& visit,
                  Unreadable unreadable = Unreadable::kIsAnError);
/// For visitors: read a whole file of the entry, write one, and remove the entry (a missing one is
/// no error).
Result<std::string> read_in(const WalkEntry& entry, const std::string& file);
Result<void> write_in(const WalkEntry& entry, const std::string& file, std::string_view value);
Result<void> remove_entry(const WalkEntry& entry);

}  // namespace ocirun::cgroups
