#include "pods/prepare/sub_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/safe_dir.hpp"
#include "pods/prepare/mounts.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;
using linux::SafeDir;

Result<UniqueFd> open_part(const SubPath& part, SafeDir::Symlinks symlinks) {
  TRY_ASSIGN(const SafeDir volume, SafeDir::open_root(HostPath(part.source)));
  const RootfsPath path("/" + part.path);
  auto found = volume.open(path, O_PATH, symlinks);
  if (found || found.error().number() != ENOENT) return found;
  if (!part.may_make) return refuse("there is no \"{}\", and the volume is read-only", part.path);
  TRY_ASSIGN(const struct stat info, sys::fstat(volume.fd()));
  // What others have put there meanwhile must not get the mode of the volume: no fchmod(2).
  const mode_t before = ::umask(0);
  auto made = volume.make_directories(path, info.st_mode & 01777);
  ::umask(before);
  return made;
}

Result<UniqueFd> open_in_frame(const SubPath& part, SafeDir::Symlinks symlinks) {
  return within(open_part(part, symlinks),
                fmt::format("volume \"{}\": subPath {}", part.volume, part.path));
}

/// Makes an empty directory, or an empty file, to mount on.
Result<UniqueFd> make_place(const std::string& path, bool is_directory) {
  TRY_ASSIGN(const UniqueFd parent, linux::open_parent(HostPath(path)));
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const int flags : {0, AT_REMOVEDIR}) {
    const auto removed = sys::unlinkat(parent, name.c_str(), flags);
    if (removed || removed.error().number() == ENOENT) break;
  }
  if (is_directory)
    TRY(sys::mkdirat(parent, name.c_str(), 0700));
  else
    TRY(sys::mknodat(parent, name.c_str(), S_IFREG | 0600, 0));
  return sys::openat(parent, name.c_str(), O_PATH | O_NOFOLLOW);
}

}  // namespace

Result<void> check(const SubPath& part) {
  TRY(open_in_frame(part, SafeDir::Symlinks::kRefuse));
  return {};
}

Result<void> show(const SubPath& part) {
  TRY_ASSIGN(const UniqueFd found, open_in_frame(part, SafeDir::Symlinks::kInside));
  TRY_ASSIGN(const struct stat info, sys::fstat(found));
  TRY(unmount_at(part.shown_at));
  TRY_ASSIGN(const UniqueFd place, make_place(part.shown_at, S_ISDIR(info.st_mode)));
  return bind_directory(found, part.recursive, place);
}

}  // namespace ocirun::pods
