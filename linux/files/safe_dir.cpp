#include "linux/files/safe_dir.hpp"

#include <linux/magic.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <vector>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

constexpr int kResolveTries = 128;  // openat2: EAGAIN if a rename or a mount coincides with ".."
constexpr int kMaxSymlinks = 40;    // like the kernel (MAXSYMLINKS)
constexpr std::uint64_t kNoSymlinkFollowing = 0x2000;  // ST_NOSYMFOLLOW, statfs(2)

/// The reaction of the walk to a component that does not exist.
enum class Missing { kFail, kMakeDirectories, kMakeFile };

/// Resolves a path like openat2(RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS), one component at a time.
/// Opens each component with O_NOFOLLOW below the component before. The walk keeps the descriptors
/// of all directories on the way, so ".." returns to the directory that the walk came from,
/// whatever was renamed meanwhile, and never leaves the root.
class Walk {
 public:
  Walk(Fd root, int flags, SafeDir::Symlinks symlinks, Missing missing, mode_t mode,
       const SafeDir::Check& check)
      : root_(root),
        flags_(flags),
        symlinks_(symlinks),
        missing_(missing),
        mode_(mode),
        check_(check) {}

  Result<UniqueFd> run(std::string_view path) {
    push(path);
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.back());
      pending_.pop_back();
      if (name == ".") continue;
      if (name == "..") {
        if (!passed_.empty()) passed_.pop_back();
        continue;
      }
      const bool last = pending_.empty();
      OCIRUN_TRY_ASSIGN(UniqueFd opened, step(name, last));
      if (opened && last) return opened;
      if (opened) passed_.push_back(std::move(opened));
    }
    return sys::openat(here(), ".", flags_ & ~O_NOFOLLOW);  // the path ended in "/", "." or ".."
  }

 private:
  Fd here() const { return passed_.empty() ? root_ : Fd(passed_.back()); }

  /// Puts the components of `path` before the pending ones. A trailing slash counts as ".", so that
  /// the component before it must be a directory.
  void push(std::string_view path) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin < path.size()) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      if (end > begin) parts.emplace_back(path.substr(begin, end - begin));
      begin = end + 1;
    }
    if (path.ends_with('/') && !parts.empty()) parts.emplace_back(".");
    pending_.insert(pending_.end(), std::make_move_iterator(parts.rbegin()),
                    std::make_move_iterator(parts.rend()));
  }

  /// Opens one component. After a symlink the result is empty, and the components of the target are
  /// pending.
  Result<UniqueFd> step(const std::string& name, bool last) {
    Result<UniqueFd> found = sys::openat(here(), name.c_str(), O_PATH | O_NOFOLLOW);
    if (!found && found.error().number() == ENOENT && missing_ != Missing::kFail) {
      if (last && missing_ == Missing::kMakeFile) return make_file(name);
      if (auto made = sys::mkdirat(here(), name.c_str(), mode_);
          !made && made.error().number() != EEXIST) {
        const bool is_whole_path = last && passed_.empty();  // walk() adds the path to the error
        if (!is_whole_path) made.error().within(name);
        return std::unexpected(std::move(made).error());
      }
      found = sys::openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY);
    }
    if (!found) return found;
    if (check_) OCIRUN_TRY(check_(*found));
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(*found));
    if (S_ISLNK(info.st_mode) && !(last && (flags_ & O_NOFOLLOW)))
      return within(follow(*found), name);
    if (!last) {
      if (!S_ISDIR(info.st_mode)) return fail(ENOTDIR, "open {}", name);
      return found;
    }
    const bool as_wanted = !(flags_ & O_DIRECTORY) || S_ISDIR(info.st_mode);
    if ((flags_ & O_PATH) && as_wanted) return found;
    return sys::openat(here(), name.c_str(), flags_ | O_NOFOLLOW);
  }

  Result<UniqueFd> make_file(const std::string& name) {
    return sys::openat(here(), name.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  }

  Result<UniqueFd> follow(Fd symlink) {
    if (symlinks_ == SafeDir::Symlinks::kRefuse || ++followed_ > kMaxSymlinks)
      return fail(ELOOP, "follow symlink");
    OCIRUN_TRY_ASSIGN(const sys::FilesystemInfo filesystem, sys::fstatfs(symlink));
    if (filesystem.flags & kNoSymlinkFollowing) return fail(ELOOP, "follow symlink");
    OCIRUN_TRY_ASSIGN(const std::string target, sys::readlinkat(symlink, ""));
    // procfs has plain symlinks ("self", "mounts") and magic links. The text of a magic link only
    // describes the file that it leads to ("/usr/bin/x", "pipe:[7]").
    if (filesystem.magic == PROC_SUPER_MAGIC &&
        (target.starts_with('/') || target.find(":[") != std::string::npos))
      return fail(ELOOP, "follow magic link");
    if (target.starts_with('/')) passed_.clear();
    push(target);
    return UniqueFd();
  }

  Fd root_;
  int flags_;
  SafeDir::Symlinks symlinks_;
  Missing missing_;
  mode_t mode_;
  const SafeDir::Check& check_;
  int followed_ = 0;
  std::vector<UniqueFd> passed_;      // the directories below the root, the present one last
  std::vector<std::string> pending_;  // components to come, the next one last
};

Result<UniqueFd> walk(Fd root, const RootfsPath& path, int flags, Missing missing, mode_t mode = 0,
                      SafeDir::Symlinks symlinks = SafeDir::Symlinks::kInside,
                      const SafeDir::Check& check = {}) {
  if (path.string().find('\0') != std::string::npos)
    return refuse("path {:?}: contains NUL", path.string());
  return within(Walk(root, flags, symlinks, missing, mode, check).run(path.string()),
                path.string());
}

}  // namespace

Result<SafeDir> SafeDir::open_root(const HostPath& path) {
  OCIRUN_TRY_ASSIGN(UniqueFd directory, sys::open(path.c_str(), O_PATH | O_DIRECTORY));
  return SafeDir(std::move(directory));
}

Result<UniqueFd> SafeDir::open(const RootfsPath& path, int flags, Symlinks symlinks) const {
  const std::string& name = path.string();
  if (name.find('\0') != std::string::npos) return refuse("path {:?}: contains NUL", name);
  std::uint64_t resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  if (symlinks == Symlinks::kRefuse) resolve |= RESOLVE_NO_SYMLINKS;
  for (int tries = 0;; ++tries) {
    auto opened = sys::openat2(directory_, name.empty() ? "." : name.c_str(), flags, resolve);
    if (opened) return opened;
    const bool raced = opened.error().number() == EAGAIN;
    if (raced && tries < kResolveTries) continue;
    // Endless renames can make each try of openat2 fail, but do not disturb the walk.
    if (raced || opened.error().number() == ENOSYS) return open_by_walk(path, flags, symlinks);
    return opened;
  }
}

Result<UniqueFd> SafeDir::open_by_walk(const RootfsPath& path, int flags, Symlinks symlinks,
                                       const Check& check) const {
  return walk(directory_, path, flags, Missing::kFail, 0, symlinks, check);
}

namespace {

/// Makes the last component of `path` alone: fewer calls than a walk. Errors: a parent is absent
/// too, or the last component is a symlink, ".." or, by now, a directory.
Result<UniqueFd> make_last(const SafeDir& root, const RootfsPath& path, mode_t mode) {
  OCIRUN_TRY_ASSIGN(const auto parts, SafeDir::split(path));
  OCIRUN_TRY_ASSIGN(const UniqueFd parent,
                    root.open(RootfsPath(parts.first), O_PATH | O_DIRECTORY));
  OCIRUN_TRY(sys::mkdirat(parent, parts.second.c_str(), mode));
  return sys::openat(parent, parts.second.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY);
}

}  // namespace

Result<UniqueFd> SafeDir::make_directories(const RootfsPath& path, mode_t mode) const {
  auto found = open(path, O_PATH | O_DIRECTORY);
  if (found || found.error().number() != ENOENT) return found;
  if (auto made = make_last(*this, path, mode)) return made;
  return walk(directory_, path, O_PATH | O_DIRECTORY, Missing::kMakeDirectories, mode);
}

Result<UniqueFd> SafeDir::make_file(const RootfsPath& path) const {
  auto found = open(path, O_PATH);
  if (found || found.error().number() != ENOENT) return found;
  return walk(directory_, path, O_PATH, Missing::kMakeFile, 0755);
}

Result<std::pair<std::string, std::string>> SafeDir::split(const RootfsPath& path) {
  std::string_view text = path.string();
  while (text.ends_with('/')) text.remove_suffix(1);
  const std::size_t slash = text.rfind('/');
  const bool has_parent = slash != std::string_view::npos;
  const std::string_view parent = has_parent ? text.substr(0, slash) : std::string_view();
  const std::string_view name = has_parent ? text.substr(slash + 1) : text;
  if (name.empty() || name == "." || name == ".." || name.find('\0') != std::string_view::npos)
    return fail(EINVAL, "path {:?}: does not end in a name", path.string());
  return std::pair(std::string(parent), std::string(name));
}

Result<SafeDir::Entry> SafeDir::entry(const RootfsPath& path, mode_t mode) const {
  OCIRUN_TRY_ASSIGN(auto parts, split(path));
  OCIRUN_TRY_ASSIGN(UniqueFd directory, make_directories(RootfsPath(std::move(parts.first)), mode));
  return Entry{std::move(directory), std::move(parts.second)};
}

}  // namespace ocirun::linux
