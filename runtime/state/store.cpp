#include "runtime/state/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/owner.hpp"
#include "linux/files/owner_name.hpp"
#include "runtime/base/options.hpp"

namespace ocirun::runtime {
namespace {

constexpr char kAdvice[] = "(choose another with --root or XDG_RUNTIME_DIR)";

// Root follows no symbolic link of another user: that user would choose on which containers root
// works.
Result<UniqueFd> open_root(const std::string& path, int access) {
  const int flags = access | O_DIRECTORY | O_CLOEXEC;
  auto direct = linux::sys::openat2(Fd{AT_FDCWD}, path.c_str(), flags, RESOLVE_NO_SYMLINKS);
  const int number = direct ? 0 : direct.error().number();
  if (number != ELOOP && number != ENOSYS) return direct;
  return is_root_outside() ? linux::open_by_own_links(path) : linux::sys::open(path.c_str(), flags);
}

// Root makes the directory below a descriptor of the parent directory. By a whole path, root would
// follow a symbolic link that another user could meanwhile put in the place of a directory.
Result<void> make_directory(const std::string& part, mode_t mode, const std::string& root) {
  const std::size_t name = part.rfind('/') + 1;  // 0: the first part of a relative path
  UniqueFd above;
  if (is_root_outside()) {
    const std::string path = name == 0 ? "." : part.substr(0, name);
    OCIRUN_TRY_ASSIGN(above, within(open_root(path, O_PATH), "make the state root " + root));
  }
  const int made = above ? ::mkdirat(above.get(), part.c_str() + name, mode)
                         : ::mkdirat(AT_FDCWD, part.c_str(), mode);
  if (made == 0 || errno == EEXIST) return {};
  return fail(errno, "make the state root {} {}", root, kAdvice);
}

Result<void> make_root(const std::string& path) {
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    const bool last = path.find_first_not_of('/', slash) == std::string::npos;  // also "/run/x/"
    // Programs that clean up below /run/user leave sticky directories alone.
    const mode_t mode = S_IRWXU | (::geteuid() == 0 ? 0 : S_ISVTX);
    if (part.back() != '/') OCIRUN_TRY(make_directory(part, last ? mode : 0755, path));
    if (last) return {};
  }
}

// Whether the directory belongs to root, is sticky and is writable by others, as /tmp is. The user
// who serves a FUSE filesystem can report any owner, so owner_of() returns that user.
Result<bool> is_shared(Fd directory, const struct stat& status) {
  if ((status.st_mode & S_ISVTX) == 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return false;
  OCIRUN_TRY_ASSIGN(const std::uint32_t owner, linux::owner_of(directory));
  return owner == 0 && status.st_uid == 0;
}

Result<Sharing> check_root(Fd directory, const HostPath& path) {
  struct stat status{};
  if (::fstat(directory.value, &status) != 0)
    return fail(errno, "stat the state root {}", path.string());
  const auto host_root = linux::sys::fstatat(Fd{AT_FDCWD}, "/");
  if (host_root && linux::sys::is_same_file(*host_root, status))
    return refuse("--root {}: the state root must be a directory of its own", path.string());
  OCIRUN_TRY_ASSIGN(const bool shared, is_shared(directory, status));
  if (shared) return Sharing::kAllUsers;
  if (status.st_uid != ::geteuid() && ::geteuid() != 0)
    return refuse(
        "state root {}: belongs to {}, must belong to you ({}); choose another with --root",
        path.string(), linux::owner_name(status.st_uid), ::geteuid());
  // A user who can make a directory in the state root can put any state.json into that directory.
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return refuse(
        "state root {}: others may write there (mode {:o}); it must be yours alone, or root's and "
        "sticky (mode 1777)",
        path.string(), status.st_mode & 07777);
  return Sharing::kOneUser;
}

}  // namespace

Result<StateRoot> open_state_root(const HostPath& root, MissingRoot missing) {
  if (root.string().find_first_not_of('/') == std::string::npos)
    return refuse("--root {}: the state root must be a directory of its own", root.string());
  auto directory = open_root(root.string(), O_RDONLY);
  if (!directory && directory.error().number() == ENOENT) {
    if (missing == MissingRoot::kIsEmpty) return StateRoot();
    if (missing == MissingRoot::kIsCreated) {
      OCIRUN_TRY(make_root(root.string()));
      directory = open_root(root.string(), O_RDONLY);
    }
  }
  if (!directory && directory.error().number() != 0)
    return fail(directory.error().number(), "open the state root {} {}", root.string(), kAdvice);
  if (!directory) return std::unexpected(directory.error().within("state root"));
  OCIRUN_TRY_ASSIGN(const Sharing sharing, check_root(*directory, root));
  return StateRoot{.directory = *std::move(directory), .sharing = sharing};
}

namespace {

// The end of an error about a file or directory of another user in the state root: ": it belongs to
// user 1000". Otherwise "".
std::string owner_unless_caller(Fd root, const char* name) {
  struct stat status{};
  if (::fstatat(root.value, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      status.st_uid == ::geteuid())
    return "";
  return fmt::format(": it belongs to {}", linux::owner_name(status.st_uid));
}

// The kind of the file `name` in the state root: "a symlink" or "a file". "" for a directory.
std::string_view what_else(Fd root, const char* name) {
  struct stat status{};
  if (::fstatat(root.value, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || S_ISDIR(status.st_mode))
    return "";
  return S_ISLNK(status.st_mode) ? "a symlink" : "a file";
}

Result<void> refuse_other_entry(Fd root, const char* name, const HostPath& path) {
  const std::string_view other = what_else(root, name);
  if (other.empty()) return {};
  return fail(ENOTDIR,
              "{} is {}, not the directory of a container, so that no container can have this id: "
              "remove it",
              path.string(), other);
}

}  // namespace

Result<Store> Store::open(const HostPath& root, MissingRoot missing) {
  OCIRUN_TRY_ASSIGN(StateRoot opened, open_state_root(root, missing));
  return Store(root, std::move(opened));
}

// In a shared state root, a user may look only at the user's own directories. Root may look at all
// directories; refuse_foreign() and check_foreign_record() limit the commands of root.
bool Store::may_look_at(const char* name) const {
  if (!is_shared_) return true;
  struct stat status{};
  if (::fstatat(directory_.get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  return S_ISDIR(status.st_mode) && (::geteuid() == 0 || status.st_uid == ::geteuid());
}

Result<StateDirectory> Store::create(const ContainerId& id) const {
  const char* name = id.string().c_str();
  HostPath path(path_.string() + "/" + id.string());
  if (::mkdirat(directory_.get(), name, 0700) != 0) {
    const int error = errno;
    if (error == EEXIST) {
      OCIRUN_TRY(refuse_other_entry(directory_, name, path));
      return refuse("container with given ID already exists: {}{}", id.string(),
                    owner_unless_caller(directory_, name));
    }
    return fail(error, "make {}", path.string());
  }
  auto directory =
      linux::sys::openat(directory_, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (!directory && directory.error().number() == ENOENT)
    return refuse("the container was deleted while it was made");
  if (!directory) return std::unexpected(directory.error());
  // In a shared state root, another user may have made a directory of this name after a `delete`.
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(*directory));
  if (status.st_uid != ::geteuid())
    return refuse("the container was deleted while it was made: {} belongs to {} now",
                  path.string(), linux::owner_name(status.st_uid));
  return StateDirectory(std::move(path), std::move(*directory));
}

Result<StateDirectory> Store::find(const ContainerId& id) const {
  const auto missing = [this] {
    return refuse("container does not exist (in the state root {}; --root names another one)",
                  path_.string());
  };
  if (!directory_) return missing();
  const char* name = id.string().c_str();
  if (!may_look_at(name))
    return fail(EPERM, "container {} in the shared state root {} is not yours{}", id.string(),
                path_.string(), owner_unless_caller(directory_, name));
  auto directory =
      linux::sys::openat(directory_, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  HostPath path(path_.string() + "/" + id.string());
  if (!directory) {
    if (directory.error().number() == ENOENT) return missing();
    OCIRUN_TRY(refuse_other_entry(directory_, name, path));
    return std::unexpected(directory.error());
  }
  return StateDirectory(std::move(path), std::move(*directory));
}

Result<std::vector<std::string>> Store::ids() const {
  std::vector<std::string> ids;
  if (!directory_) return ids;
  OCIRUN_TRY(within(
      linux::for_each_entry(directory_,
                            [&](const char* name, unsigned char type) -> Result<void> {
                              if (ContainerId::parse(name) &&
                                  linux::is_directory(directory_, name, type) && may_look_at(name))
                                ids.emplace_back(name);
                              return {};
                            }),
      "read the state root {}", path_.string()));
  std::ranges::sort(ids);
  return ids;
}

}  // namespace ocirun::runtime
