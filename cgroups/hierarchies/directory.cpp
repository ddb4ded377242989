#include "cgroups/hierarchies/directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::size_t kLargestFile = std::size_t{16} << 20;
constexpr const char* kNote = "user.ocirun.handed_down";
constexpr std::size_t kLongestNote = 1024;

/// The two names of an extended attribute. An ordinary user may write only `of_user`.
struct Attribute {
  const char* of_root;
  const char* of_user;
};
constexpr Attribute kMark{"trusted.ocirun.container", "user.ocirun.container"};
constexpr Attribute kMadeByOcirun{"trusted.ocirun.parent", "user.ocirun.parent"};
/// Written by systemd, with the value "1" (systemd, docs/CGROUP_DELEGATION). In a user namespace,
/// "trusted" attributes cannot be read.
constexpr Attribute kDelegate{"trusted.delegate", "user.delegate"};
constexpr std::size_t kLongestMark = XATTR_SIZE_MAX;
constexpr int kRegainTries = 20;
constexpr int kDirectoryFlags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Result<UniqueFd> open_at(int parent, const std::string& name, int flags) {
  UniqueFd fd(::openat(parent, name.c_str(), flags | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return fail(errno, "open {}", name);
  return fd;
}

/// Restores the permissions of a cgroup: the root user of an ordinary user's container owns the
/// cgroup and may have removed the permissions. Returns true if the caller may try again.
bool regain(Fd directory) {
  return ::fchmodat(AT_FDCWD, linux::host_fd_link(directory).c_str(), 0755, 0) == 0;
}

/// Opens a file of a cgroup, the cgroup itself (".") or a nested cgroup (flags with O_DIRECTORY).
/// Restores removed permissions and tries again, several times if the container goes on removing.
Result<UniqueFd> open_in(Fd directory, const std::string& name, int flags) {
  auto opened = open_at(directory.value, name, flags);
  for (int tries = 0; tries < kRegainTries; ++tries) {
    if (opened || opened.error().number() != EACCES) return opened;
    bool again = regain(directory);
    if ((flags & O_DIRECTORY) == 0)
      again = ::fchmodat(directory.value, name.c_str(), 0644, 0) == 0 || again;
    if (!again) return opened;
    opened = open_at(directory.value, name, flags);
  }
  return opened;
}

/// The files that hold a list of ids. A read of any other file returns the whole content if the
/// buffer is large enough.
bool is_list(std::string_view file) {
  return file == "cgroup.procs" || file == "cgroup.threads" || file == "tasks";
}

/// The names of one type (DT_DIR, DT_REG) in `directory`, whose descriptor is O_PATH.
Result<std::vector<std::string>> list(Fd directory, unsigned char type) {
  std::vector<std::string> names;
  const auto add = [&](const char* name, unsigned char its) -> Result<void> {
    if (its == type) names.emplace_back(name);
    return {};
  };
  auto listed = linux::for_each_entry(directory, add);
  if (!listed && listed.error().number() == EACCES) {
    OCIRUN_TRY_ASSIGN(const UniqueFd regained, open_in(directory, ".", O_RDONLY | O_DIRECTORY));
    listed = linux::for_each_entry(regained, add);
  }
  OCIRUN_TRY(listed);
  return names;
}

/// Returns "" if the attribute does not exist.
Result<std::string> read_attribute(Fd fd, const char* name, std::size_t longest) {
  std::string text(longest, '\0');
  const ssize_t size = ::fgetxattr(fd.value, name, text.data(), text.size());
  if (size < 0 && errno != ENODATA && errno != EOPNOTSUPP) return fail(errno, "read {}", name);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

/// Calls `write` with the name `of_root` and, after EPERM, with the name `of_user`. `write` returns
/// 0 or sets errno.
template <typename Write>
bool write_attribute(const Attribute& attribute, Write write) {
  return write(attribute.of_root) == 0 || (errno == EPERM && write(attribute.of_user) == 0);
}

bool vanished(const Error& error) { return error.number() == ENOENT || error.number() == ENODEV; }

Result<void> check_is_cgroupfs(const struct statfs& filesystem, const std::string& path) {
  if (filesystem.f_type == CGROUP_SUPER_MAGIC || filesystem.f_type == CGROUP2_SUPER_MAGIC)
    return {};
  return refuse("{} is not in a cgroup filesystem", path);
}

}  // namespace

Result<Directory> Directory::open(const std::string& path) {
  OCIRUN_TRY_ASSIGN(UniqueFd fd, open_at(AT_FDCWD, path, kDirectoryFlags));
  return Directory(std::move(fd), path);
}

Result<Directory> Directory::open_entry(const WalkEntry& entry) {
  OCIRUN_TRY_ASSIGN(UniqueFd fd, open_in(entry.parent, entry.name, kDirectoryFlags));
  return Directory(std::move(fd), entry.name);
}

Result<void> Directory::check_filesystem() const {
  struct statfs filesystem{};
  if (::fstatfs(fd_.get(), &filesystem) != 0) return fail(errno, "look at {}", path_);
  return check_is_cgroupfs(filesystem, path_);
}

Result<UniqueFd> Directory::open_file(const std::string& file, int flags) const {
  Result<UniqueFd> fd = open_in(fd_, file, flags);
  if (!fd) return fail(fd.error().number(), "open {}/{}", path_, file);
  return fd;
}

Result<std::string> Directory::read(const std::string& file) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd fd, open_file(file, O_RDONLY));
  return within(is_list(file) ? linux::sys::read_all(fd, kLargestFile)
                              : linux::sys::read_value(fd, kLargestFile),
                "{}/{}", path_, file);
}

std::string Directory::read_or_empty(const std::string& file) const {
  std::string text = read(file).value_or("");
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<void> Directory::write(const std::string& file, std::string_view value) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd fd, open_file(file, O_WRONLY));
  const linux::timeline::Call call("write", file);
  if (auto done = linux::sys::write_once(fd, value); !done)
    return fail(done.error().number(), "write {} to {}/{}", value, path_, file);
  return {};
}

std::vector<std::string> Directory::files() const {
  return list(fd_, DT_REG).value_or(std::vector<std::string>());
}

bool Directory::has_children() const {
  struct stat status{};
  return ::fstat(fd_.get(), &status) != 0 || status.st_nlink > 2;
}

std::string Directory::note() const {
  const Result<UniqueFd> fd = open_file(".", O_RDONLY | O_DIRECTORY);
  return fd ? read_attribute(*fd, kNote, kLongestNote).value_or("") : "";
}

Result<void> Directory::write_note(const std::string& text) const {
  OCIRUN_TRY_ASSIGN(const UniqueFd fd, open_file(".", O_RDONLY | O_DIRECTORY));
  if ((text.empty() ? ::fremovexattr(fd.get(), kNote)
                    : ::fsetxattr(fd.get(), kNote, text.data(), text.size(), 0)) == 0)
    return {};
  return fail(errno, "write {} of {}", kNote, path_);
}

Result<Mark> Directory::mark() const {
  OCIRUN_TRY_ASSIGN(const UniqueFd fd, open_file(".", O_RDONLY | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(std::string of_root, read_attribute(fd, kMark.of_root, kLongestMark));
  if (!of_root.empty()) return Mark{.text = std::move(of_root), .written_by_root = true};
  OCIRUN_TRY_ASSIGN(std::string of_user, read_attribute(fd, kMark.of_user, kLongestMark));
  return Mark{.text = std::move(of_user), .written_by_root = false};
}

bool Directory::has_delegation_mark() const {
  constexpr std::size_t kLongest = 16;
  const Result<UniqueFd> fd = open_file(".", O_RDONLY | O_DIRECTORY);
  return fd && (read_attribute(*fd, kDelegate.of_user, kLongest).value_or("") == "1" ||
                read_attribute(*fd, kDelegate.of_root, kLongest).value_or("") == "1");
}

Result<UniqueFd> open_file_of(const std::string& path, const std::string& file, int flags) {
  return open_at(AT_FDCWD, fmt::format("{}/{}", path, file), flags);
}

Result<Made> make_directory(const std::string& path) {
  if (::mkdirat(AT_FDCWD, path.c_str(), 0755) == 0) return Made::kNew;
  if (errno == EEXIST) return Made::kExisted;
  return fail(errno, "make cgroup {}", path);
}

Result<void> remove_directory(const std::string& path) {
  if (::unlinkat(AT_FDCWD, path.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT || errno == ENODEV)
    return {};
  return fail(errno, "remove cgroup {}", path);
}

Result<void> write_mark(const std::string& path, const std::string& text) {
  if (write_attribute(kMark, [&](const char* name) {
        return ::lsetxattr(path.c_str(), name, text.data(), text.size(), 0);
      }))
    return {};
  return fail(errno, "mark {}", path);
}

void note_as_made(const std::string& path) {
  write_attribute(kMadeByOcirun,
                  [&](const char* name) { return ::lsetxattr(path.c_str(), name, "", 0, 0); });
}

bool is_noted_as_made(const std::string& path) {
  return ::lgetxattr(path.c_str(), kMadeByOcirun.of_root, nullptr, 0) >= 0 ||
         ::lgetxattr(path.c_str(), kMadeByOcirun.of_user, nullptr, 0) >= 0;
}

bool does_not_exist(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) != 0 && errno == ENOENT;
}

Result<void> check_is_in_cgroupfs(const std::string& path) {
  struct statfs filesystem{};
  if (::statfs(path.c_str(), &filesystem) == 0) return check_is_cgroupfs(filesystem, path);
  Error error(errno, "look at " + path);
  return vanished(error) ? Result<void>{} : std::unexpected(std::move(error));
}

Result<std::optional<Found>> find_directory(const std::string& path) {
  const Result<UniqueFd> fd = open_at(AT_FDCWD, path, kDirectoryFlags);
  if (!fd && vanished(fd.error())) return std::nullopt;
  if (!fd) return std::unexpected(fd.error());
  struct statfs filesystem{};
  struct stat status{};
  if (::fstatfs(fd->get(), &filesystem) != 0 || ::fstat(fd->get(), &status) != 0)
    return fail(errno, "look at {}", path);
  OCIRUN_TRY(check_is_cgroupfs(filesystem, path));
  return Found{.owner = status.st_uid};
}

Result<void> walk(const std::string& root,
                  const std::function<Result<void>(const WalkEntry&)>& visit,
                  Unreadable unreadable) {
  struct Level {
    std::string name;                  // this directory's name in its parent
    std::vector<std::string> pending;  // children that are not visited yet
  };
  std::vector<Level> levels;
  UniqueFd current;  // the directory of levels.back()

  const auto enter = [&](int parent, const std::string& name) -> Result<bool> {
    Result<UniqueFd> fd = open_in(Fd{parent}, name, kDirectoryFlags);
    if (!fd && vanished(fd.error())) return false;
    if (!fd) return std::unexpected(std::move(fd).error());
    Result<std::vector<std::string>> children = list(*fd, DT_DIR);
    if (!children && children.error().number() == EACCES && unreadable == Unreadable::kIsPassedOver)
      return false;
    if (!children && !vanished(children.error()))
      return std::unexpected(
          children.error().within(fmt::format("look into cgroup {} below {}", name, root)));
    levels.push_back({name, std::move(children).value_or(std::vector<std::string>())});
    current = *std::move(fd);
    return true;
  };

  OCIRUN_TRY_ASSIGN(const bool exists, enter(AT_FDCWD, root));
  if (!exists) return {};
  while (true) {
    if (!levels.back().pending.empty()) {
      const std::string child = std::move(levels.back().pending.back());
      levels.back().pending.pop_back();
      OCIRUN_TRY(enter(current.get(), child));
      continue;
    }
    const Level done = std::move(levels.back());
    levels.pop_back();
    if (levels.empty()) return visit({Fd{AT_FDCWD}, done.name});
    OCIRUN_TRY_ASSIGN(current, open_in(current, "..", kDirectoryFlags));
    OCIRUN_TRY(visit({current, done.name}));
  }
}

Result<std::string> read_in(const WalkEntry& entry, const std::string& file) {
  OCIRUN_TRY_ASSIGN(const Directory directory, Directory::open_entry(entry));
  return directory.read(file);
}

Result<void> write_in(const WalkEntry& entry, const std::string& file, std::string_view value) {
  OCIRUN_TRY_ASSIGN(const Directory directory, Directory::open_entry(entry));
  return directory.write(file, value);
}

Result<void> remove_entry(const WalkEntry& entry) {
  if (::unlinkat(entry.parent.value, entry.name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT ||
      errno == ENODEV)
    return {};
  return fail(errno, "remove cgroup {}", entry.name);
}

}  // namespace ocirun::cgroups
