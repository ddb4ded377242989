#include "pods/transfer/copy_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/kernel_filesystems.hpp"
#include "linux/files/procfs.hpp"
#include "pods/images/trees/inode.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr int kMostLevels = 200;  // each needs three descriptors

/// Why an entry is not copied; "" if it is.
std::string why_left_out(const struct stat& info, const sys::FilesystemInfo& filesystem) {
  if (linux::is_kernel_filesystem(filesystem.magic))
    return "lies in a filesystem of the kernel, such as proc, sysfs or cgroup (`ocirun pod exec` "
           "can read it with the rights of the container)";
  switch (info.st_mode & S_IFMT) {
    case S_IFREG:
    case S_IFLNK:
    case S_IFDIR:
      return "";
    case S_IFIFO:
      return "is a FIFO";
    case S_IFSOCK:
      return "is a socket";
    default:
      return "is a device";
  }
}

constexpr const char* kReplaced = "was replaced meanwhile by a program of the container";
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/// The mode of a directory that is being made. Nobody else has use for such a directory: its owner
/// cannot write to it, and others cannot read it.
constexpr mode_t kNewMode = 01500;

class Copy {
 public:
  Copy(linux::Procfs procfs, const CopyRules& rules, const struct stat& into)
      : procfs_(std::move(procfs)), rules_(rules), into_(into) {}

  /// Copies an entry of any type to the name `name` in the directory `to`. `path` is the source's,
  /// for messages.
  Result<void> entry(Fd source, Fd to, const std::string& name, const std::string& path,
                     int level) {
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(source));
    OCIRUN_TRY_ASSIGN(const bool is_copied, is_wanted(source, info, path, level));
    if (!is_copied) return {};
    auto copied = S_ISDIR(info.st_mode)   ? directory(source, info, to, name, path, level)
                  : S_ISLNK(info.st_mode) ? symlink(source, info, to, name)
                                          : file(source, info, to, name);
    return level == 0 || S_ISDIR(info.st_mode) ? copied
                                               : within(std::move(copied), bundle::escaped(path));
  }

  /// Copies everything in the directory `source` into the directory `to`.
  Result<void> content(Fd source, Fd to, const std::string& path, int level) {
    if (level == kMostLevels)
      return refuse("{}: is more than {} directories deep", bundle::escaped(path), kMostLevels);
    OCIRUN_TRY(check_target(to));
    return linux::for_each_entry(source, [&](const char* found, unsigned char) -> Result<void> {
      const std::string name = found;
      const std::string below = fmt::format("{}/{}", path == "/" ? "" : path, name);
      // A filesystem in user space may answer anything.
      if (name.contains('/')) return refuse("{}: is no name", bundle::escaped(below));
      auto entry_of = sys::openat(source, found, O_PATH | O_NOFOLLOW);
      if (!entry_of && entry_of.error().number() == ENOENT) {
        rules_.warn(fmt::format("{}: was removed meanwhile", bundle::escaped(below)));
        return {};
      }
      if (!entry_of) return std::unexpected(entry_of.error().within(bundle::escaped(below)));
      return entry(*entry_of, to, name, below, level + 1);
    });
  }

 private:
  /// Whether an entry is copied. Errors: it is not, and is the source itself.
  Result<bool> is_wanted(Fd source, const struct stat& info, const std::string& path, int level) {
    OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(source));
    const std::string reason = why_left_out(info, filesystem);
    if (reason.empty()) return true;
    if (level == 0) return refuse("{}, and cannot be copied", reason);
    rules_.warn(fmt::format("{}: {}, and is left out", bundle::escaped(path), reason));
    return false;
  }

  static Result<void> check_target(Fd to) {
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(to));
    OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(to));
    const std::string reason = why_left_out(info, filesystem);
    if (reason.empty()) return {};
    return refuse("the directory that the copy goes to {}, and nothing is copied to it", reason);
  }

  /// Refuses to replace anything but a file or a symlink: a FIFO, or a device of the host.
  static Result<void> check_replaceable(Fd to, const std::string& name) {
    const auto found = sys::fstatat(to, name.c_str());
    if (!found && found.error().number() == ENOENT) return {};
    OCIRUN_TRY(found);
    if (S_ISREG(found->st_mode) || S_ISLNK(found->st_mode)) return {};
    return refuse("{}: is in the way: it is neither a file nor a symlink", bundle::escaped(name));
  }

  static Result<std::string> temporary_name() {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
      return sys::last_error("choose a random name");
    return fmt::format(".ocirun-cp.{:016x}", number);
  }

  /// Makes an entry under a temporary name by `make`, and then gives it its name.
  template <typename Make>
  Result<void> complete(Fd to, const std::string& name, const Make& make) {
    OCIRUN_TRY(check_target(to));
    OCIRUN_TRY(check_replaceable(to, name));
    OCIRUN_TRY_ASSIGN(const std::string temporary, temporary_name());
    auto made = make(temporary);
    if (made) made = sys::renameat2(to, temporary.c_str(), to, name.c_str(), 0);
    if (!made) ignore(sys::unlinkat(to, temporary.c_str(), 0));
    return made;
  }

  Result<void> set_owner(Fd made) const {
    if (!rules_.owner) return {};
    return sys::fchown(made, rules_.owner->first.value(), rules_.owner->second.value());
  }

  /// Sets the mode after the owner: chown(2) changes it.
  Result<void> set_attributes_of(Fd made, const struct stat& info, mode_t kept) const {
    OCIRUN_TRY(set_owner(made));
    OCIRUN_TRY(sys::fchmod(made, info.st_mode & kept));
    const timespec times[2] = {info.st_atim, info.st_mtim};
    if (::futimens(made.value, times) != 0) return sys::last_error("set the times");
    return {};
  }

  Result<void> file(Fd source, const struct stat& info, Fd to, const std::string& name) {
    // The descriptor is of a regular file for good. O_NONBLOCK: another process may hold a lease.
    OCIRUN_TRY_ASSIGN(const UniqueFd content_of,
                      procfs_.reopen(source, O_RDONLY | O_NONBLOCK | O_NOCTTY));
    return complete(to, name, [&](const std::string& temporary) -> Result<void> {
      OCIRUN_TRY_ASSIGN(
          const UniqueFd copy,
          sys::openat(to, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
      OCIRUN_TRY(copy_file_content(content_of, copy, info.st_size));
      return set_attributes_of(copy, info, 0777);
    });
  }

  Result<void> symlink(Fd source, const struct stat& info, Fd to, const std::string& name) {
    OCIRUN_TRY_ASSIGN(const std::string text, sys::readlinkat(source, ""));
    return complete(to, name, [&](const std::string& temporary) -> Result<void> {
      OCIRUN_TRY(sys::symlinkat(text.c_str(), to, temporary.c_str()));
      OCIRUN_TRY_ASSIGN(const UniqueFd copy,
                        sys::openat(to, temporary.c_str(), O_PATH | O_NOFOLLOW));
      OCIRUN_TRY_ASSIGN(const struct stat found, sys::fstat(copy));
      // A program of the container may have put another file there, to become its owner.
      if (!S_ISLNK(found.st_mode) || found.st_nlink != 1 || sys::readlinkat(copy, "") != text)
        return refuse(kReplaced);
      OCIRUN_TRY(set_owner(copy));
      auto timed = sys::utimensat(copy, "", info.st_atim, info.st_mtim);
      if (!timed && timed.error().number() == EINVAL) return {};
      return timed;
    });
  }

  Result<void> directory(Fd source, const struct stat& info, Fd to, const std::string& name,
                         const std::string& path, int level) {
    if (sys::is_same_file(info, into_))
      return refuse("{}: a directory cannot be copied into itself", bundle::escaped(path));
    OCIRUN_TRY(check_target(to));
    auto copy = sys::openat(to, name.c_str(), kOpenDirectory);
    if (!copy && (copy.error().number() == ENOTDIR || copy.error().number() == ELOOP))
      return refuse("{}: is in the way: it is no directory", bundle::escaped(name));
    const bool is_new = !copy && copy.error().number() == ENOENT;
    if (is_new) copy = make_directory(to, name);
    if (!copy) return std::unexpected(copy.error());
    OCIRUN_TRY(content(source, *copy, path, level));
    if (!is_new) return {};
    return set_attributes_of(*copy, info, 01777);
  }

  /// Makes a directory, and opens that one: its owner and mode are set later, and a program of the
  /// container may put another directory in its place at any time.
  static Result<UniqueFd> make_directory(Fd to, const std::string& name) {
    OCIRUN_TRY_ASSIGN(const std::string temporary, temporary_name());
    const auto drop = [&] { ignore(sys::unlinkat(to, temporary.c_str(), AT_REMOVEDIR)); };
    OCIRUN_TRY(sys::mkdirat(to, temporary.c_str(), kNewMode));
    auto made = sys::openat(to, temporary.c_str(), kOpenDirectory);
    if (made) {
      auto proven = check_new(*made);
      if (proven) proven = sys::fchmod(*made, 0700);
      if (proven) proven = sys::renameat2(to, temporary.c_str(), to, name.c_str(), 0);
      if (!proven) made = std::unexpected(proven.error());
    }
    if (!made) drop();
    return made;
  }

  /// Proves that make_directory() has made a directory: it belongs to the caller, is empty, and has
  /// the mode kNewMode, which nobody else gives a directory of the caller.
  static Result<void> check_new(Fd made) {
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(made));
    const mode_t mode = info.st_mode & 07777 & ~static_cast<mode_t>(S_ISGID);  // as the parent's
    if (mode != kNewMode || info.st_uid != ::geteuid()) return refuse(kReplaced);
    return linux::for_each_entry(
        made, [](const char*, unsigned char) -> Result<void> { return refuse(kReplaced); });
  }

  linux::Procfs procfs_;
  const CopyRules& rules_;
  struct stat into_;  // the directory of the target
};

}  // namespace

Result<void> copy_files(const CopySource& source, const CopyTarget& target,
                        const CopyRules& rules) {
  auto copied = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
    OCIRUN_TRY_ASSIGN(const struct stat into, sys::fstat(target.directory));
    Copy copy(std::move(procfs), rules, into);
    if (!target.name.empty())
      return within(copy.entry(source.entry, target.directory, target.name, source.path, 0),
                    bundle::escaped(target.path));
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(source.entry));
    if (!S_ISDIR(info.st_mode)) return fail(ENOTDIR, "copy what is in it");
    if (sys::is_same_file(info, into)) return refuse("a directory cannot be copied into itself");
    return within(copy.content(source.entry, target.directory, source.path, 0),
                  bundle::escaped(target.path));
  }();
  return within(std::move(copied), bundle::escaped(source.path));
}

}  // namespace ocirun::pods
