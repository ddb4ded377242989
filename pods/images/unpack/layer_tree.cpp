#include "pods/images/unpack/layer_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <vector>

#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/images/trees/inode.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;
using Type = TarEntry::Type;

constexpr int kMostLinks = 40;  // in one path, as for the kernel

Result<UniqueFd> open_directory(Fd parent, const std::string& name) {
  return sys::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

Result<std::vector<std::string>> directories_in(Fd directory) {
  std::vector<std::string> names;
  OCIRUN_TRY(
      linux::for_each_entry(directory, [&](const char* name, unsigned char type) -> Result<void> {
        if (type == DT_UNKNOWN) {
          OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstatat(directory, name));
          type = S_ISDIR(info.st_mode) ? DT_DIR : DT_REG;
        }
        if (type == DT_DIR) names.emplace_back(name);
        return {};
      }));
  return names;
}

std::string_view default_acl_of(const TarEntry& entry) {
  for (const auto& [name, value] : entry.xattrs)
    if (name == kDefaultAcl) return value;
  return {};
}

}  // namespace

Result<LayerTree> LayerTree::open(Fd root, const LowerLayers& below, const UnpackOptions& options) {
  OCIRUN_TRY_ASSIGN(UniqueFd directory, sys::openat(root, ".", O_RDONLY | O_DIRECTORY));
  LayerTree tree(linux::SafeDir(std::move(directory)), below, options);
  OCIRUN_TRY(sys::fchmod(tree.root_.fd(), 0755));
  OCIRUN_TRY(tree.remembered(tree.root_.fd()));
  return tree;
}

Result<void> LayerTree::count_entry() {
  if (++sums_.entries > options_.limits.entries)
    return refuse("the layer has more than {} entries", options_.limits.entries);
  if (options_.before.entries + sums_.entries > options_.image.entries)
    return refuse("the layers of the image have more than {} entries", options_.image.entries);
  return {};
}

Result<void> LayerTree::count_bytes(std::uint64_t bytes) {
  if (bytes > options_.limits.bytes - sums_.bytes)
    return refuse("the files of the layer have more than {} bytes", options_.limits.bytes);
  sums_.bytes += bytes;
  if (options_.before.bytes + sums_.bytes > options_.image.bytes)
    return refuse("the files of the image have more than {} bytes", options_.image.bytes);
  return {};
}

Result<void> LayerTree::add(const TarEntry& entry, TarReader& archive) {
  OCIRUN_TRY(count_entry());
  OCIRUN_TRY_ASSIGN(const EntryName name, parse_entry_name(entry.name, options_.limits.names));
  for (const auto& [attribute, value] : entry.xattrs)
    if (is_overlay_attribute(attribute))
      return refuse("it has the attribute {}, which is overlayfs' own", bundle::escaped(attribute));
  if (name.kind == NameKind::kRoot) return add_root(entry);
  if (name.kind == NameKind::kFile && entry.type == Type::kHardLink)
    OCIRUN_TRY(bring_up_target(entry));
  auto found = this->parent(name.parent);
  if (!found && name.kind != NameKind::kFile) {
    // If a directory has become a file, umoci writes whiteouts for its former entries.
    OCIRUN_TRY_ASSIGN(const bool is_hidden, is_below_own_file(name.parent));
    if (is_hidden) return {};
  }
  OCIRUN_TRY_ASSIGN(const Fd parent, std::move(found));
  if (name.kind == NameKind::kWhiteout) return add_whiteout(entry, name, parent);
  if (name.kind == NameKind::kOpaque) return make_opaque(parent);
  switch (entry.type) {
    case Type::kDirectory:
      return add_directory(entry, name, parent);
    case Type::kFile:
      return add_file(entry, name, parent, archive);
    case Type::kSymlink:
      return add_symlink(entry, name, parent);
    case Type::kHardLink:
      return add_hard_link(entry, name, parent);
    case Type::kOther:
      return refuse("it is a socket or of an unknown type");
    default:
      return add_node(entry, name, parent);
  }
}

// The descent holds one descriptor, because a tree may be deeper than the limit of descriptors:
// symlinks in the names of entries can lead from one deep directory to the next.
Result<void> LayerTree::finish() {
  struct Level {
    std::vector<std::string> rest;  // directories that were not visited yet
    bool is_shown;                  // whether the layers below show through here
    std::size_t path;               // length of the path of this level
  };
  std::string path;
  OCIRUN_TRY_ASSIGN(UniqueFd here, sys::openat(root_.fd(), ".", O_RDONLY | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(std::vector<std::string> names, directories_in(here));
  OCIRUN_TRY_ASSIGN(const bool is_shown, complete(here, path, true));
  std::vector<Level> levels;
  levels.push_back({std::move(names), is_shown, 0});
  for (;;) {
    Level& level = levels.back();
    path.resize(level.path);
    if (level.rest.empty()) {
      levels.pop_back();
      if (levels.empty()) return {};
      OCIRUN_TRY_ASSIGN(here, sys::openat(here, "..", O_RDONLY | O_DIRECTORY));
      continue;
    }
    const std::string name = std::move(level.rest.back());
    level.rest.pop_back();
    path += path.empty() ? name : "/" + name;
    OCIRUN_TRY_ASSIGN(here, open_directory(here, name));
    OCIRUN_TRY_ASSIGN(std::vector<std::string> inner, directories_in(here));
    OCIRUN_TRY_ASSIGN(const bool inner_is_shown, complete(here, path, level.is_shown));
    levels.push_back({std::move(inner), inner_is_shown, path.size()});
  }
}

/// Sets the attributes that `directory` could not get before. `is_shown`: the layers below are
/// visible in the parent directory. Returns whether the layers below are visible in `directory`.
Result<bool> LayerTree::complete(Fd directory, std::string_view path, bool is_shown) {
  OCIRUN_TRY_ASSIGN(Directory* const known, remembered(directory));
  const bool may_inherit = is_shown && !known->is_described && !known->hides_its_name;
  bool is_below = known->is_described;  // if it is described, the layers below are not asked
  if (may_inherit) {
    OCIRUN_TRY_ASSIGN(is_below, inherit(directory, path, *known));
  }
  if (!known->default_acl.empty())
    OCIRUN_TRY(sys::setxattr(directory, kDefaultAcl.data(), known->default_acl));
  if (known->is_described || (may_inherit && is_below))
    OCIRUN_TRY(sys::utimensat(directory, ".", known->accessed, known->modified));
  return is_shown && is_below && !known->is_opaque && !known->hides_its_name;
}

/// Copies the attributes that the directory `path` has in the layers below. Returns whether the
/// layers below have such a directory.
Result<bool> LayerTree::inherit(Fd directory, std::string_view path, Directory& remembered) {
  OCIRUN_TRY_ASSIGN(const auto found, find_below(below_, path, options_.mark));
  if (!found || !S_ISDIR(found->info.st_mode)) return false;
  OCIRUN_TRY_ASSIGN(const UniqueFd lower, open_directory(found->directory, found->name));
  OCIRUN_TRY_ASSIGN(const TarEntry like, describe_inode(lower));
  OCIRUN_TRY(set_attributes(directory, like));
  remembered.default_acl = default_acl_of(like);
  remembered.accessed = like.accessed;
  remembered.modified = like.modified;
  return true;
}

Result<LayerTree::Directory*> LayerTree::remembered(Fd directory) {
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(directory));
  return &directories_[info.st_ino];
}

Result<Fd> LayerTree::parent(const std::string& path) {
  if (parent_ && !parent_is_stale_ && parent_path_ == path) return Fd(parent_);
  constexpr int kFlags = O_PATH | O_DIRECTORY;
  auto found = root_.open(RootfsPath(path), kFlags);
  if (is_missing(found)) {
    OCIRUN_TRY(make_missing(path, 0));
    found = root_.open(RootfsPath(path), kFlags);
  }
  if (!found) return fail(found.error().number(), "its directory");
  parent_ = *std::move(found);
  parent_path_ = path;
  parent_is_stale_ = false;
  return Fd(parent_);
}

/// Makes those directories of `path` that the archive has not listed. `links`: how many dangling
/// symlinks have led here.
Result<void> LayerTree::make_missing(const std::string& path, int links) {
  if (links > kMostLinks) return fail(ELOOP, "its directory");
  std::string prefix;
  for (const std::string_view component : linux::words(path, '/')) {
    const std::string above = prefix;
    const std::string name(component);
    prefix += prefix.empty() ? name : "/" + name;
    if (name == "." || name == "..") continue;  // in the target of a symlink
    OCIRUN_TRY_ASSIGN(const UniqueFd here, root_.open(RootfsPath(above), O_PATH | O_DIRECTORY));
    OCIRUN_TRY_ASSIGN(const auto info, look(here, name));
    if (!info) {
      OCIRUN_TRY(count_entry());
      OCIRUN_TRY(make_directory(here, name));
    } else if (is_whiteout(*info)) {
      // "Whiteout files only apply to resources in lower layers": the new directory is of this
      // layer.
      OCIRUN_TRY(count_entry());
      OCIRUN_TRY(clear(here, name));
      OCIRUN_TRY_ASSIGN(const UniqueFd made, make_directory(here, name));
      OCIRUN_TRY(hide_name(made));
    } else if (S_ISLNK(info->st_mode)) {
      if (!is_missing(root_.open(RootfsPath(prefix), O_PATH))) continue;
      OCIRUN_TRY_ASSIGN(const std::string target, sys::readlinkat(here, name.c_str()));
      OCIRUN_TRY(make_missing(
          target.starts_with('/') ? target : fmt::format("{}/{}", above, target), links + 1));
    } else if (!S_ISDIR(info->st_mode)) {
      return refuse("{} is no directory in this layer", bundle::escaped(prefix));
    }
  }
  return {};
}

/// Whether this layer has an entry that is no directory at `path` or above it. Such an entry hides
/// `path` in the layers below.
Result<bool> LayerTree::is_below_own_file(const std::string& path) const {
  std::string prefix;
  for (const std::string_view component : linux::words(path, '/')) {
    const auto above = root_.open(RootfsPath(prefix), O_PATH | O_DIRECTORY);
    if (!above) return false;
    const std::string name(component);
    OCIRUN_TRY_ASSIGN(const auto info, look(*above, name));
    if (!info || is_whiteout(*info)) return false;
    if (!S_ISDIR(info->st_mode) && !S_ISLNK(info->st_mode)) return true;
    prefix += prefix.empty() ? name : "/" + name;
  }
  return false;
}

Result<UniqueFd> LayerTree::make_directory(Fd parent, const std::string& name) {
  OCIRUN_TRY(sys::mkdirat(parent, name.c_str(), 0755));
  OCIRUN_TRY_ASSIGN(UniqueFd made, open_directory(parent, name));
  OCIRUN_TRY(sys::fchmod(made, 0755));  // whatever the umask is
  OCIRUN_TRY_ASSIGN(Directory* const known, remembered(made));
  *known = {};  // another directory may have had the inode
  return made;
}

Result<void> LayerTree::make_opaque(Fd directory) {
  OCIRUN_TRY_ASSIGN(const UniqueFd opened, open_directory(directory, "."));
  const auto marked = sys::setxattr(opened, attribute_name(options_.mark), "y");
  if (!marked && marked.error().number() == EOPNOTSUPP)
    return fail(EOPNOTSUPP,
                "the filesystem of the image store cannot keep the attribute {} (a tmpfs can since "
                "Linux 6.6): --data DIR names another place",
                attribute_name(options_.mark));
  OCIRUN_TRY(marked);
  OCIRUN_TRY_ASSIGN(Directory* const known, remembered(opened));
  known->is_opaque = true;
  return {};
}

/// Hides the directory of the same name in the layers below, with its content.
Result<void> LayerTree::hide_name(Fd directory) {
  OCIRUN_TRY(make_opaque(directory));
  OCIRUN_TRY_ASSIGN(Directory* const known, remembered(directory));
  known->hides_its_name = true;
  return {};
}

Result<void> LayerTree::add_root(const TarEntry& entry) {
  if (entry.type != Type::kDirectory) return refuse("the layer's root must be a directory");
  return describe(root_.fd(), entry);
}

Result<void> LayerTree::add_directory(const TarEntry& entry, const EntryName& name, Fd parent) {
  OCIRUN_TRY_ASSIGN(const auto info, look(parent, name.name));
  if (info && S_ISDIR(info->st_mode)) {
    OCIRUN_TRY_ASSIGN(const UniqueFd known, open_directory(parent, name.name));
    return describe(known, entry);
  }
  if (info) OCIRUN_TRY(clear(parent, name.name));
  OCIRUN_TRY_ASSIGN(const UniqueFd made, make_directory(parent, name.name));
  // This layer has hidden or replaced the name before, so that nothing shines through from below.
  if (info) OCIRUN_TRY(hide_name(made));
  return describe(made, entry);
}

/// Sets the owner, mode and attributes of a directory. They replace those of an earlier entry of
/// the same name.
Result<void> LayerTree::describe(Fd directory, const TarEntry& entry) {
  OCIRUN_TRY_ASSIGN(const std::uint64_t left_out, set_attributes(directory, entry));
  sums_.attributes_left_out += left_out;
  OCIRUN_TRY_ASSIGN(Directory* const known, remembered(directory));
  if (known->is_described) OCIRUN_TRY(remove_other_attributes(directory, entry));
  known->is_described = true;
  known->default_acl = default_acl_of(entry);
  known->accessed = entry.accessed;
  known->modified = entry.modified;
  return {};
}

}  // namespace ocirun::pods
