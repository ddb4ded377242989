#include "runtime/state/state_root.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/files/owner.hpp"
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
  if (number != ELOOP && number != ENOSYS && number != EPERM) return direct;
  return is_host_root() ? linux::open_by_own_links(path) : linux::sys::open(path.c_str(), flags);
}

// Root makes the directory below a descriptor of the parent directory. With a path, the directory
// would be made wherever a symbolic link leads that somebody puts there meanwhile.
Result<void> make_directory(const std::string& part, mode_t mode, const std::string& root) {
  const std::size_t name = part.rfind('/') + 1;  // 0: the first part of a relative path
  UniqueFd above;
  if (is_host_root()) {
    const std::string path = name == 0 ? "." : part.substr(0, name);
    TRY_ASSIGN(above, within(open_root(path, O_PATH), "make the state root " + root));
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
    if (part.back() != '/') TRY(make_directory(part, last ? mode : 0755, path));
    if (last) return {};
  }
}

// Whether the directory is root's, sticky and writable by all, as /tmp is. Of a FUSE file
// system owner_of() returns the user who serves it, because that user can report any owner.
Result<bool> is_shared(Fd directory, const struct stat& status) {
  if ((status.st_mode & S_ISVTX) == 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return false;
  TRY_ASSIGN(const std::uint32_t owner, linux::owner_of(directory));
  return owner == 0 && status.st_uid == 0;
}

Result<Sharing> check_root(Fd directory, const HostPath& path) {
  struct stat status{};
  if (::fstat(directory.value, &status) != 0)
    return fail(errno, "stat the state root {}", path.string());
  const auto host_root = linux::sys::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (host_root && linux::sys::is_same_file(*host_root, directory).value_or(false))
    return refuse("--root {}: the state root must be a directory of its own", path.string());
  TRY_ASSIGN(const bool shared, is_shared(directory, status));
  if (shared) return Sharing::kAllUsers;
  if (status.st_uid != ::geteuid() && ::geteuid() != 0)
    return refuse(
        "state root {}: belongs to user {}, must belong to you ({}); choose another with --root",
        path.string(), status.st_uid, ::geteuid());
  // Whoever can make a directory in the state root can put any state.json into it.
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
      TRY(make_root(root.string()));
      directory = open_root(root.string(), O_RDONLY);
    }
  }
  if (!directory && directory.error().number() != 0)
    return fail(directory.error().number(), "open the state root {} {}", root.string(), kAdvice);
  if (!directory) return std::unexpected(directory.error().within("state root"));
  TRY_ASSIGN(const Sharing sharing, check_root(*directory, root));
  return StateRoot{.directory = *std::move(directory), .sharing = sharing};
}

}  // namespace ocirun::runtime
