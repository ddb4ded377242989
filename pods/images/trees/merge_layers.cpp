#include "pods/images/trees/merge_layers.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <cerrno>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::pods {

namespace {

namespace sys = linux::sys;

/// The entries of a directory, one after another. To save descriptors, a caller can remember the
/// position, close the listing, and continue later with a new listing of the same unchanged
/// directory.
class Listing {
 public:
  /// Opens the directory `name` of `parent`. Errors: there is a symlink instead.
  static Result<Listing> open(Fd parent, const char* name);
  Listing() = default;  // closed

  Fd fd() const { return Fd{::dirfd(stream_.get())}; }  // of the directory
  /// The next name, without "." and ".."; nothing at the end.
  Result<std::optional<std::string>> next();
  /// The position behind the name that next() has returned last.
  long position() const { return ::telldir(stream_.get()); }
  void seek(long position) { ::seekdir(stream_.get(), position); }

 private:
  struct Close {
    void operator()(DIR* stream) const { ::closedir(stream); }
  };
  std::unique_ptr<DIR, Close> stream_;
};

Result<Listing> Listing::open(Fd parent, const char* name) {
  OCIRUN_TRY_ASSIGN(UniqueFd directory,
                    linux::sys::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  Listing listing;
  listing.stream_.reset(::fdopendir(directory.get()));
  if (!listing.stream_) return linux::sys::last_error("list directory");
  ignore(directory.release());  // closedir(3) closes it
  return listing;
}

Result<std::optional<std::string>> Listing::next() {
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream_.get());
    if (entry == nullptr && errno != 0) return linux::sys::last_error("list directory");
    if (entry == nullptr) return std::optional<std::string>();
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") return std::optional<std::string>(name);
  }
}

constexpr std::size_t kOpenLevels =
    32;  // directories of the path that stay open, original and copy
constexpr std::size_t kLongestStep =
    4000;  // bytes of a path that are opened at once, below PATH_MAX

using Inode = std::pair<dev_t, ino_t>;

Inode inode_of(const struct stat& info) { return {info.st_dev, info.st_ino}; }

/// Opens a directory of the copy, and sets a mode that lets its owner in, and no default ACL, which
/// new entries would inherit. The final mode and ACL are set when the directory is left.
Result<UniqueFd> open_copy(Fd parent, const char* name) {
  OCIRUN_TRY_ASSIGN(const UniqueFd found,
                    sys::openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW));
  OCIRUN_TRY(sys::fchmod(found, 0700));
  OCIRUN_TRY_ASSIGN(UniqueFd copy, sys::openat(found, ".", O_RDONLY | O_DIRECTORY));
  OCIRUN_TRY(remove_attributes(copy));
  return copy;
}

/// Opens the parent of an open directory. Fails unless it is the directory that the walk came from.
Result<UniqueFd> reopen_parent(Fd directory, Inode expected) {
  OCIRUN_TRY_ASSIGN(UniqueFd parent, sys::openat(directory, "..", O_RDONLY | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(parent));
  if (inode_of(info) != expected) return refuse("a directory was moved while it was copied");
  return parent;
}

/// Opens a directory of the copy, "/a/b" or "". The path may be longer than PATH_MAX.
Result<UniqueFd> open_below(Fd root, std::string_view path) {
  OCIRUN_TRY_ASSIGN(UniqueFd here, sys::openat(root, ".", O_PATH | O_DIRECTORY));
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::size_t end =
        path.size() <= kLongestStep ? path.size() : path.rfind('/', kLongestStep);
    const linux::SafeDir directory(std::move(here));
    OCIRUN_TRY_ASSIGN(
        here, directory.open(RootfsPath(std::string(path.substr(0, end))), O_PATH | O_DIRECTORY,
                             linux::SafeDir::Symlinks::kRefuse));
    path.remove_prefix(end);
  }
  return here;
}

/// Copies one tree over the content of a directory.
class TreeCopy {
 public:
  /// With `mark`, the tree is a layer whose whiteouts and opaque directories are applied.
  /// `is_first`: the directory is empty.
  TreeCopy(Fd into, std::optional<OpaqueMark> mark, bool is_first, const CopyOptions& options)
      : into_(into), mark_(mark), is_first_(is_first), options_(options) {}

  Result<void> run(Fd from) {
    auto copied = walk(from);
    if (copied) return copied;
    const std::string name = path_ + "/" + current_.value_or("");
    return within(std::move(copied), "copy {}", bundle::escaped(name));
  }

 private:
  /// A directory on the path from the root of the tree to where the walk is.
  struct Level {
    Listing source;
    UniqueFd copy;
    struct stat info;  // of the source, before it was listed
    Inode copy_inode;
    std::size_t path_length;  // of path_ without this directory
    long position = 0;        // in the listing, while the level is closed
  };
  /// A file of the tree of which not all names have been copied yet.
  struct Linked {
    std::string parent, name;
    nlink_t left;
  };

  Result<void> walk(Fd from) {
    OCIRUN_TRY_ASSIGN(Listing source, Listing::open(from, "."));
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(source.fd()));
    if (mark_ && !is_first_) {
      OCIRUN_TRY_ASSIGN(const bool hides, is_opaque(source.fd(), *mark_));
      if (hides) OCIRUN_TRY(linux::remove_content(into_));
    }
    OCIRUN_TRY_ASSIGN(UniqueFd copy, open_copy(into_, "."));
    OCIRUN_TRY(enter(std::move(source), std::move(copy), info, 0));
    while (!levels_.empty()) {
      OCIRUN_TRY_ASSIGN(current_, levels_.back().source.next());
      if (current_)
        OCIRUN_TRY(visit(current_->c_str()));
      else
        OCIRUN_TRY(leave());
    }
    return {};
  }

  Result<void> enter(Listing source, UniqueFd copy, const struct stat& info,
                     std::size_t path_length) {
    OCIRUN_TRY_ASSIGN(const struct stat made, sys::fstat(copy));
    levels_.push_back({std::move(source), std::move(copy), info, inode_of(made), path_length});
    if (levels_.size() <= kOpenLevels) return {};
    Level& oldest = levels_[levels_.size() - 1 - kOpenLevels];
    if (!oldest.copy) return {};
    oldest.position = oldest.source.position();
    oldest.source = Listing();
    oldest.copy.reset();
    return {};
  }

  /// The parent is opened first: the mode of the directory may keep its owner out afterwards.
  Result<void> leave() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    if (!levels_.empty() && !levels_.back().copy) {
      Level& parent = levels_.back();
      OCIRUN_TRY_ASSIGN(const UniqueFd source,
                        reopen_parent(level.source.fd(), inode_of(parent.info)));
      OCIRUN_TRY_ASSIGN(parent.source, Listing::open(source, "."));
      parent.source.seek(parent.position);
      OCIRUN_TRY_ASSIGN(parent.copy, reopen_parent(level.copy, parent.copy_inode));
    }
    OCIRUN_TRY(
        copy_directory_attributes(level.source.fd(), level.info, level.copy, options_.owners));
    path_.resize(level.path_length);
    return {};
  }

  Result<void> visit(const char* name) {
    const Level& here = levels_.back();
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstatat(here.source.fd(), name));
    if (S_ISDIR(info.st_mode)) return visit_directory(name, info);
    if (!is_first_) OCIRUN_TRY(linux::remove_tree(here.copy, name));
    if (mark_ && is_whiteout(info)) return {};
    if (info.st_nlink > 1) return visit_linked(name, info);
    OCIRUN_TRY(copy_inode(here.source.fd(), here.copy, name, info, options_));
    return {};
  }

  Result<void> visit_directory(const char* name, const struct stat& info) {
    const Level& here = levels_.back();
    OCIRUN_TRY_ASSIGN(Listing source, Listing::open(here.source.fd(), name));
    bool is_there = false;
    if (!is_first_) {
      OCIRUN_TRY_ASSIGN(is_there, is_directory(here.copy, name));
      bool hides = !is_there;
      if (is_there && mark_) {
        OCIRUN_TRY_ASSIGN(hides, is_opaque(source.fd(), *mark_));
      }
      if (hides) OCIRUN_TRY(linux::remove_tree(here.copy, name));
      is_there = !hides;
    }
    if (!is_there) OCIRUN_TRY(sys::mkdirat(here.copy, name, 0700));
    OCIRUN_TRY_ASSIGN(UniqueFd copy, open_copy(here.copy, name));
    const std::size_t path_length = path_.size();
    path_ += fmt::format("/{}", name);
    return enter(std::move(source), std::move(copy), info, path_length);
  }

  /// Whether the name is a directory of the copy.
  static Result<bool> is_directory(Fd parent, const char* name) {
    const auto info = sys::fstatat(parent, name);
    if (info) return S_ISDIR(info->st_mode);
    if (info.error().number() == ENOENT) return false;
    return std::unexpected(info.error());
  }

  Result<void> visit_linked(const char* name, const struct stat& info) {
    const Level& here = levels_.back();
    const auto known = linked_.find(inode_of(info));
    if (known == linked_.end()) {
      OCIRUN_TRY_ASSIGN(const bool is_made,
                        copy_inode(here.source.fd(), here.copy, name, info, options_));
      if (is_made) linked_.emplace(inode_of(info), Linked{path_, name, info.st_nlink - 1});
      return {};
    }
    Linked& first = known->second;
    OCIRUN_TRY_ASSIGN(const UniqueFd parent, open_below(into_, first.parent));
    OCIRUN_TRY(sys::linkat(parent, first.name.c_str(), here.copy, name));
    if (--first.left == 0) linked_.erase(known);
    return {};
  }

  Fd into_;
  std::optional<OpaqueMark> mark_;
  bool is_first_;
  const CopyOptions& options_;
  std::vector<Level> levels_;
  std::string path_;                    // of the last level: "/a/b", or "" for the root of the tree
  std::optional<std::string> current_;  // the entry of the last level that is looked at
  std::map<Inode, Linked> linked_;
};

}  // namespace

Result<void> copy_tree(Fd from, Fd into, const CopyOptions& options) {
  return TreeCopy(into, std::nullopt, true, options).run(from);
}

Result<void> merge_layers(std::span<const Fd> layers, OpaqueMark mark, Fd into,
                          const CopyOptions& options) {
  bool is_first = true;
  for (const Fd layer : layers)
    OCIRUN_TRY(TreeCopy(into, mark, std::exchange(is_first, false), options).run(layer));
  return {};
}

}  // namespace ocirun::pods
