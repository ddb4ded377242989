#include "runtime/state/store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::runtime {
namespace {

// ": it belongs to user 1000", or "".
std::string owner_unless_caller(Fd root, const char* name) {
  struct stat status{};
  if (::fstatat(root.value, name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      status.st_uid == ::geteuid())
    return "";
  return fmt::format(": it belongs to user {}", status.st_uid);
}

// Of an entry that is no directory: "a symlink", "a file". Otherwise "".
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
  TRY_ASSIGN(StateRoot opened, open_state_root(root, missing));
  return Store(root, std::move(opened));
}

// A user neither reads nor changes the directories of others in a shared state root. Root reads all
// of them; refuse_foreign() and keep_what_owner_owns() limit what root's commands do with them.
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
      TRY(refuse_other_entry(directory_, name, path));
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
  // In a shared state root the directory may have been removed and made again by another user.
  TRY_ASSIGN(const struct stat status, linux::sys::fstat(*directory));
  if (status.st_uid != ::geteuid())
    return refuse("the container was deleted while it was made: {} belongs to user {} now",
                  path.string(), status.st_uid);
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
    TRY(refuse_other_entry(directory_, name, path));
    return std::unexpected(directory.error());
  }
  return StateDirectory(std::move(path), std::move(*directory));
}

Result<std::vector<std::string>> Store::ids() const {
  std::vector<std::string> ids;
  if (!directory_) return ids;
  TRY(within(linux::for_each_entry(directory_,
                                   [&](const char* name, unsigned char) -> Result<void> {
                                     if (ContainerId::parse(name) && may_look_at(name))
                                       ids.emplace_back(name);
                                     return {};
                                   }),
             fmt::format("read the state root {}", path_.string())));
  std::ranges::sort(ids);
  return ids;
}

}  // namespace ocirun::runtime
