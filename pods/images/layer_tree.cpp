#include "pods/images/layer_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/images/inode_attributes.hpp"
#include "pods/images/libarchive.hpp"
#include "pods/images/remove_tree.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;
using Type = TarEntry::Type;

constexpr std::uint64_t kLargestMajor = 0xfff, kLargestMinor = 0xfffff;  // of the kernel's dev_t

bool is_whiteout(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(0, 0);
}

/// What the name is now; nothing if it is free.
Result<std::optional<struct stat>> look(Fd parent, const std::string& name) {
  auto info = sys::fstatat(parent, name.c_str());
  if (info) return std::optional(*info);
  if (info.error().number() == ENOENT) return std::optional<struct stat>();
  return std::unexpected(std::move(info).error());
}

Result<UniqueFd> open_directory(Fd parent, const std::string& name) {
  return sys::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

Result<void> write_at(Fd file, std::string_view data, std::uint64_t offset) {
  while (!data.empty()) {
    const ssize_t done = ::pwrite(file.value, data.data(), data.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return fail(errno, "write");
    data.remove_prefix(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
  return {};
}

}  // namespace

Result<LayerTree> LayerTree::open(Fd root, std::span<const Fd> below,
                                  const UnpackOptions& options) {
  TRY_ASSIGN(UniqueFd directory, sys::openat(root, ".", O_RDONLY | O_DIRECTORY));
  LayerTree tree(linux::SafeDir(std::move(directory)), below, options);
  TRY(sys::fchmod(tree.root_.fd(), 0755));
  TRY(tree.inherit(tree.root_.fd(), ""));
  return tree;
}

Result<void> LayerTree::add(const TarEntry& entry, TarReader& archive) {
  TRY_ASSIGN(const EntryName name, parse_entry_name(entry.name, options_.limits.names));
  if (name.kind == NameKind::kRoot) return add_root(entry);
  TRY_ASSIGN(const Fd parent, this->parent(name.parent));
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

Result<void> LayerTree::finish() {
  for (const auto& [inode, times] : times_) {
    const auto directory = root_.open(RootfsPath(times.path), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!directory) continue;  // something else has replaced it, or a symlink in its path
    TRY_ASSIGN(const struct stat info, sys::fstat(*directory));
    if (info.st_ino == inode) TRY(sys::utimensat(*directory, ".", times.accessed, times.modified));
  }
  return {};
}

Result<Fd> LayerTree::parent(const std::string& path) {
  if (parent_ && !parent_is_stale_ && parent_path_ == path) return Fd(parent_);
  constexpr int kFlags = O_PATH | O_DIRECTORY;
  auto found = root_.open(RootfsPath(path), kFlags);
  if (is_missing(found)) {
    TRY(make_missing(path));
    found = root_.open(RootfsPath(path), kFlags);
  }
  if (!found) return fail(found.error().number(), "its directory");
  parent_ = *std::move(found);
  parent_path_ = path;
  parent_is_stale_ = false;
  return Fd(parent_);
}

Result<void> LayerTree::make_missing(const std::string& path) {
  std::string prefix;
  for (const std::string_view component : linux::split(path, '/')) {
    const std::string name(component);
    TRY_ASSIGN(const UniqueFd here, root_.open(RootfsPath(prefix), O_PATH | O_DIRECTORY));
    prefix += prefix.empty() ? name : "/" + name;
    TRY_ASSIGN(const auto info, look(here, name));
    if (!info) {
      TRY(make_implied(here, name, prefix));
    } else if (is_whiteout(*info)) {
      // "Whiteout files only apply to resources in lower layers": what follows is this layer's own.
      TRY(clear(here, name));
      TRY(make_implied(here, name, prefix));
      TRY_ASSIGN(const UniqueFd made, open_directory(here, name));
      TRY(make_opaque(made));
    } else if (S_ISLNK(info->st_mode)) {
      TRY(root_.make_directories(RootfsPath(prefix)));  // of a dangling one, the target is made
    } else if (!S_ISDIR(info->st_mode)) {
      return refuse("{} is no directory in this layer", escaped(prefix.c_str()));
    }
  }
  return {};
}

/// A directory that the archive has not listed, but has entries of.
Result<void> LayerTree::make_implied(Fd parent, const std::string& name, const std::string& path) {
  TRY(sys::mkdirat(parent, name.c_str(), 0755));
  TRY_ASSIGN(const UniqueFd made, open_directory(parent, name));
  TRY(sys::fchmod(made, 0755));  // whatever the umask is
  return inherit(made, path);
}

/// Copies what the nearest layer below says of the same directory, which this one covers.
Result<void> LayerTree::inherit(Fd directory, const std::string& path) {
  for (const Fd layer : below_) {
    TRY_ASSIGN(UniqueFd root, sys::openat(layer, ".", O_PATH | O_DIRECTORY));
    const linux::SafeDir tree(std::move(root));
    const auto found = tree.open(RootfsPath(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                                 linux::SafeDir::Symlinks::kRefuse);
    if (!found && found.error().number() == ENOENT) continue;
    // A file, a link or a whiteout: the layers below that one do not matter.
    if (!found && (found.error().number() == ENOTDIR || found.error().number() == ELOOP)) return {};
    if (!found) return std::unexpected(found.error());
    TRY_ASSIGN(const struct stat info, sys::fstat(*found));
    TarEntry like;
    like.type = Type::kDirectory;
    like.mode = info.st_mode & 07777;
    like.uid = info.st_uid;
    like.gid = info.st_gid;
    TRY_ASSIGN(const std::vector<std::string> attributes, sys::listxattr(*found));
    for (const std::string& attribute : attributes) {
      if (is_overlay_attribute(attribute)) continue;
      TRY_ASSIGN(std::string value, sys::getxattr(*found, attribute.c_str()));
      like.xattrs.emplace_back(attribute, std::move(value));
    }
    TRY(set_attributes(directory, like));
    return remember(directory, path, info.st_atim, info.st_mtim);
  }
  return {};
}

Result<void> LayerTree::make_opaque(Fd directory) const {
  return sys::setxattr(directory, attribute_name(options_.mark), "y");
}

Result<void> LayerTree::clear(Fd parent, const std::string& name) {
  TRY_ASSIGN(const auto info, look(parent, name));
  if (!info) return {};
  // The path of the remembered parent may lead through what goes away. Its descriptor stays open,
  // because `parent` may be that.
  parent_is_stale_ = true;
  return remove_tree(parent, name.c_str());
}

Result<void> LayerTree::add_root(const TarEntry& entry) {
  if (entry.type != Type::kDirectory) return refuse("the layer's root must be a directory");
  return describe_directory(root_.fd(), "", entry);
}

Result<void> LayerTree::add_directory(const TarEntry& entry, const EntryName& name, Fd parent) {
  TRY_ASSIGN(const auto info, look(parent, name.name));
  const bool is_there = info && S_ISDIR(info->st_mode);
  if (info && !is_there) TRY(clear(parent, name.name));
  if (!is_there) TRY(sys::mkdirat(parent, name.name.c_str(), 0700));
  TRY_ASSIGN(const UniqueFd made, open_directory(parent, name.name));
  // This layer has hidden or replaced the name before, so that nothing shines through from below.
  if (info && !is_there) TRY(make_opaque(made));
  return describe_directory(made, name.path(), entry);
}

Result<void> LayerTree::describe_directory(Fd directory, const std::string& path,
                                           const TarEntry& entry) {
  TRY(set_attributes(directory, entry));
  return remember(directory, path, entry.accessed, entry.modified);
}

Result<void> LayerTree::remember(Fd directory, const std::string& path, const timespec& accessed,
                                 const timespec& modified) {
  TRY_ASSIGN(const struct stat info, sys::fstat(directory));
  times_[info.st_ino] = {path, accessed, modified};
  return {};
}

Result<void> LayerTree::add_file(const TarEntry& entry, const EntryName& name, Fd parent,
                                 TarReader& archive) {
  TRY(clear(parent, name.name));
  TRY_ASSIGN(const UniqueFd file, sys::openat(parent, name.name.c_str(),
                                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  for (;;) {
    TRY_ASSIGN(const auto piece, archive.read_piece());
    if (!piece) break;
    if (piece->offset > entry.size || piece->data.size() > entry.size - piece->offset)
      return refuse("it has more content than its header says");
    TRY(write_at(file, piece->data, piece->offset));
  }
  if (::ftruncate(file.get(), static_cast<off_t>(entry.size)) != 0)  // a hole at the end
    return fail(errno, "set its size of {} bytes", entry.size);
  TRY(set_attributes(file, entry));
  return sys::utimensat(parent, name.name.c_str(), entry.accessed, entry.modified);
}

Result<void> LayerTree::add_symlink(const TarEntry& entry, const EntryName& name, Fd parent) {
  if (entry.target.empty()) return refuse("a symlink without a target");
  TRY(clear(parent, name.name));
  TRY(sys::symlinkat(entry.target.c_str(), parent, name.name.c_str()));
  TRY_ASSIGN(const UniqueFd made, sys::openat(parent, name.name.c_str(), O_PATH | O_NOFOLLOW));
  TRY(set_attributes(made, entry));
  return sys::utimensat(parent, name.name.c_str(), entry.accessed, entry.modified);
}

Result<void> LayerTree::add_hard_link(const TarEntry& entry, const EntryName& name, Fd parent) {
  const std::string shown = escaped(entry.target.c_str());
  auto target = parse_entry_name(entry.target, options_.limits.names);
  if (!target)
    return within(Result<void>(std::unexpected(target.error())),
                  fmt::format("hard link to {}", shown));
  if (target->kind != NameKind::kFile) return refuse("a hard link to {}, no file", shown);
  const auto directory = root_.open(RootfsPath(target->parent), O_PATH | O_DIRECTORY,
                                    linux::SafeDir::Symlinks::kRefuse);
  if (!directory && directory.error().number() == ELOOP)
    return refuse("a hard link to {}, through a symlink", shown);
  if (!directory) return fail(directory.error().number(), "hard link to {}", shown);
  TRY_ASSIGN(const auto info, look(*directory, target->name));
  if (!info || is_whiteout(*info))
    return refuse("a hard link to {}, which this layer does not have", shown);
  if (S_ISDIR(info->st_mode)) return refuse("a hard link to {}, a directory", shown);
  TRY_ASSIGN(const auto old, look(parent, name.name));
  if (old && old->st_ino == info->st_ino && old->st_dev == info->st_dev) return {};
  TRY(clear(parent, name.name));
  return within(sys::linkat(*directory, target->name.c_str(), parent, name.name.c_str()),
                fmt::format("hard link to {}", shown));
}

Result<void> LayerTree::add_node(const TarEntry& entry, const EntryName& name, Fd parent) {
  mode_t kind = S_IFIFO;
  if (entry.type != Type::kFifo) {
    kind = entry.type == Type::kCharacterDevice ? S_IFCHR : S_IFBLK;
    if (entry.device_major > kLargestMajor || entry.device_minor > kLargestMinor)
      return refuse("there is no device {}:{}", entry.device_major, entry.device_minor);
    if (kind == S_IFCHR && entry.device_major == 0 && entry.device_minor == 0)
      return refuse("device 0:0 is overlayfs' own sign for a hidden name");
  }
  TRY(clear(parent, name.name));
  if (kind != S_IFIFO && options_.devices == DeviceNodes::kLeaveOut) {
    ++devices_left_out_;
    return {};
  }
  const dev_t device =
      makedev(static_cast<unsigned>(entry.device_major), static_cast<unsigned>(entry.device_minor));
  TRY(sys::mknodat(parent, name.name.c_str(), kind | 0600, kind == S_IFIFO ? 0 : device));
  TRY_ASSIGN(const UniqueFd made, sys::openat(parent, name.name.c_str(), O_PATH | O_NOFOLLOW));
  TRY(set_attributes(made, entry));
  return sys::utimensat(parent, name.name.c_str(), entry.accessed, entry.modified);
}

Result<void> LayerTree::add_whiteout(const TarEntry& entry, const EntryName& name, Fd parent) {
  const bool is_file = entry.type == Type::kFile || entry.type == Type::kHardLink;
  if (!is_file || (entry.type == Type::kFile && entry.size != 0))
    return refuse("a whiteout must be an empty file");
  TRY_ASSIGN(const auto info, look(parent, name.name));
  if (!info) return sys::mknodat(parent, name.name.c_str(), S_IFCHR, makedev(0, 0));
  // This layer's own file or directory stays; only what the layers below have is hidden.
  if (!S_ISDIR(info->st_mode)) return {};
  TRY_ASSIGN(const UniqueFd directory, open_directory(parent, name.name));
  return make_opaque(directory);
}

}  // namespace ocirun::pods
