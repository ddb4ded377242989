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

/// A directory as walk() sees it: a name to be used in *at calls with `parent`.
struct WalkEntry {
  Fd parent;
  const std::string& name;
};

/// An extended attribute of a container's cgroup (mark.hpp).
struct Mark {
  std::string text;       // empty: none
  bool is_roots = false;  // only CAP_SYS_ADMIN on the host can write it
};

/// One cgroup's directory in one hierarchy, opened once (O_PATH, never through a symlink): its
/// files are reached from there, wherever it stands. This file is the only place of the room that
/// makes raw calls with names, all of them names in cgroupfs.
class Directory {
 public:
  static Result<Directory> open(const std::string& path);
  /// One that walk() is at.
  static Result<Directory> open_entry(const WalkEntry& entry);

  Fd fd() const { return fd_; }
  const std::string& path() const { return path_; }

  Result<UniqueFd> open_file(const std::string& file, int flags) const;
  /// The whole text, at most 16 MiB.
  Result<std::string> read(const std::string& file) const;
  /// The same, empty where it cannot be read; without the newline at its end.
  std::string read_or_empty(const std::string& file) const;
  /// One write(2).
  Result<void> write(const std::string& file, std::string_view value) const;
  /// The names of its files, in no order; none if it cannot be listed.
  std::vector<std::string> files() const;
  /// Whether there are cgroups in it (cgroupfs counts them as links).
  bool has_children() const;
  /// What a container left written on the cgroup for others (an extended attribute; v2, Linux 5.7):
  /// empty where there is nothing or it cannot be read.
  std::string note() const;
  /// Empty: none any more.
  Result<void> write_note(const std::string& text) const;
  /// Whose cgroup it is (mark.hpp).
  Result<Mark> mark() const;
  Result<void> write_mark(const std::string& text) const;

 private:
  Directory(UniqueFd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  UniqueFd fd_;
  std::string path_;
};

enum class Made { kNew, kExisted };
/// mkdir(2), mode 0755.
Result<Made> make_directory(const std::string& path);
/// rmdir(2); one that is missing is no error. EBUSY: processes or nested cgroups are in it.
Result<void> remove_directory(const std::string& path);

/// Notes on a directory that it was made to stand above a container's cgroup: with the last
/// container below it, it goes. Where the kernel keeps no such attributes, it stays.
void note_as_made(const std::string& path);
bool is_noted_as_made(const std::string& path);

/// What stands at a path of cgroupfs; nothing where nothing does. Errors: it is on another
/// filesystem, or no directory.
struct Found {
  std::uint32_t owner = 0;
};
Result<std::optional<Found>> find_directory(const std::string& path);

/// Calls `visit` for every cgroup below `root` and then for `root` itself, children before parents.
/// Containers nest as deep and as wide as they like: neither the stack nor descriptors grow with
/// it. What vanishes meanwhile is passed over. The first error of `visit` ends the walk, as does
/// a cgroup that may not be looked into, unless those are passed over.
enum class Unreadable { kIsAnError, kIsPassedOver };
Result<void> walk(const std::string& root,
                  const std::function<Result<void>(const WalkEntry&)>& visit,
                  Unreadable unreadable = Unreadable::kIsAnError);
/// For visitors: a whole file of the entry, a write to one, and its removal (missing is no error).
Result<std::string> read_in(const WalkEntry& entry, const std::string& file);
Result<void> write_in(const WalkEntry& entry, const std::string& file, std::string_view value);
Result<void> remove_entry(const WalkEntry& entry);

}  // namespace ocirun::cgroups
