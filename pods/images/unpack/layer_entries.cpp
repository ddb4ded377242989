// LayerTree: the entries of a layer that are no directories.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "pods/images/trees/inode.hpp"
#include "pods/images/unpack/layer_tree.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;
using Type = TarEntry::Type;

constexpr std::uint64_t kLargestMajor = 0xfff, kLargestMinor = 0xfffff;  // of the kernel's dev_t
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

Result<void> set_size(Fd file, std::uint64_t size) {
  if (::ftruncate(file.value, static_cast<off_t>(size)) == 0) return {};
  return fail(errno, "set its size of {} bytes", size);
}

/// Copies a file without its holes. A filesystem without holes reports the file as one piece of
/// data.
Result<void> copy_content(Fd from, Fd to, std::uint64_t size) {
  std::array<char, kBlockSize> block;
  off_t offset = 0;
  while ((offset = ::lseek(from.value, offset, SEEK_DATA)) >= 0) {
    const off_t end = ::lseek(from.value, offset, SEEK_HOLE);
    if (end < 0) return fail(errno, "find the end of the data at {}", offset);
    while (offset < end) {
      const auto wanted = std::min(block.size(), static_cast<std::size_t>(end - offset));
      const ssize_t got = ::pread(from.value, block.data(), wanted, offset);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return fail(got < 0 ? errno : EIO, "read");
      const std::string_view data(block.data(), static_cast<std::size_t>(got));
      OCIRUN_TRY(write_at(to, data, static_cast<std::uint64_t>(offset)));
      offset += got;
    }
  }
  if (errno != ENXIO) return fail(errno, "find the data");  // ENXIO: only a hole follows
  return set_size(to, size);
}

}  // namespace

/// Removes the present entry of this name.
Result<void> LayerTree::clear(Fd parent, const std::string& name) {
  OCIRUN_TRY_ASSIGN(const auto info, look(parent, name));
  if (!info) return {};
  // The path of the remembered parent may lead through the removed entry. Its descriptor stays
  // open, because `parent` may be the same one.
  parent_is_stale_ = true;
  return linux::remove_tree(parent, name.c_str());
}

Result<UniqueFd> LayerTree::make_file(const TarEntry& entry, const EntryName& name, Fd parent) {
  OCIRUN_TRY(count_bytes(entry.size));
  OCIRUN_TRY(clear(parent, name.name));
  return sys::openat(parent, name.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
}

Result<void> LayerTree::add_file(const TarEntry& entry, const EntryName& name, Fd parent,
                                 TarReader& archive) {
  OCIRUN_TRY_ASSIGN(const UniqueFd file, make_file(entry, name, parent));
  std::uint64_t end = 0;
  for (;;) {
    OCIRUN_TRY_ASSIGN(const auto piece, archive.read_piece());
    if (!piece) break;
    if (piece->offset > entry.size || piece->data.size() > entry.size - piece->offset)
      return refuse("it has more content than its header says");
    OCIRUN_TRY(write_at(file, piece->data, piece->offset));
    end = piece->offset + piece->data.size();
  }
  if (end != entry.size) OCIRUN_TRY(set_size(file, entry.size));  // a hole at the end
  OCIRUN_TRY_ASSIGN(const std::uint64_t left_out, set_attributes(file, entry));
  sums_.attributes_left_out += left_out;
  return sys::utimensat(parent, name.name.c_str(), entry.accessed, entry.modified);
}

Result<void> LayerTree::add_symlink(const TarEntry& entry, const EntryName& name, Fd parent) {
  if (entry.target.empty()) return refuse("a symlink without a target");
  OCIRUN_TRY(clear(parent, name.name));
  OCIRUN_TRY(sys::symlinkat(entry.target.c_str(), parent, name.name.c_str()));
  OCIRUN_TRY(set_owner_and_mode(parent, name.name.c_str(), entry));
  sums_.attributes_left_out += entry.xattrs.size();
  return sys::utimensat(parent, name.name.c_str(), entry.accessed, entry.modified);
}

Result<void> LayerTree::add_hard_link(const TarEntry& entry, const EntryName& name, Fd parent) {
  const std::string shown = bundle::escaped(entry.target);
  OCIRUN_TRY_ASSIGN(const EntryName target, parse_entry_name(entry.target, options_.limits.names));
  const auto directory = root_.open(RootfsPath(target.parent), O_PATH | O_DIRECTORY,
                                    linux::SafeDir::Symlinks::kRefuse);
  if (!directory && directory.error().number() == ELOOP)
    return refuse("a hard link to {}, through a symlink", shown);
  if (!directory) return fail(directory.error().number(), "hard link to {}", shown);
  OCIRUN_TRY_ASSIGN(const auto info, look(*directory, target.name));
  if (!info || is_whiteout(*info))
    return refuse("a hard link to {}, which neither this layer nor one below it has", shown);
  if (S_ISDIR(info->st_mode)) return refuse("a hard link to {}, a directory", shown);
  OCIRUN_TRY_ASSIGN(const auto old, look(parent, name.name));
  if (old && sys::is_same_file(*old, *info)) return {};
  OCIRUN_TRY(clear(parent, name.name));
  return within(sys::linkat(*directory, target.name.c_str(), parent, name.name.c_str()),
                "hard link to {}", shown);
}

/// If only a layer below has the target of a hard link, copies the target to this layer, as
/// overlayfs does before it makes a link.
Result<void> LayerTree::bring_up_target(const TarEntry& entry) {
  const std::string shown = bundle::escaped(entry.target);
  auto target = parse_entry_name(entry.target, options_.limits.names);
  if (!target)
    return within(Result<void>(std::unexpected(target.error())), "hard link to {}", shown);
  if (target->kind != NameKind::kFile) return refuse("a hard link to {}, no file", shown);
  LowerEntry own;
  OCIRUN_TRY_ASSIGN(const Sight sight,
                    look_in_layer(root_.fd(), target->path(), options_.mark, own));
  if (sight != Sight::kAbsent) return {};
  OCIRUN_TRY_ASSIGN(const auto lower, find_below(below_, target->path(), options_.mark));
  if (!lower || S_ISDIR(lower->info.st_mode)) return {};  // add_hard_link() says what is wrong
  OCIRUN_TRY_ASSIGN(const Fd parent, this->parent(target->parent));
  return within(bring_up(*lower, *target, parent), "hard link to {}", shown);
}

Result<void> LayerTree::bring_up(const LowerEntry& lower, const EntryName& name, Fd parent) {
  OCIRUN_TRY(count_entry());
  const char* const made = name.name.c_str();
  TarEntry like;
  if (S_ISREG(lower.info.st_mode)) {
    OCIRUN_TRY_ASSIGN(const UniqueFd from, sys::openat(lower.directory, lower.name.c_str(),
                                                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    OCIRUN_TRY_ASSIGN(like, describe_inode(from));
    OCIRUN_TRY_ASSIGN(const UniqueFd to, make_file(like, name, parent));
    OCIRUN_TRY(copy_content(from, to, like.size));
    OCIRUN_TRY(set_attributes(to, like));
    return sys::utimensat(parent, made, like.accessed, like.modified);
  }
  like.type = S_ISLNK(lower.info.st_mode) ? Type::kSymlink : Type::kOther;
  like.mode = lower.info.st_mode & 07777;
  like.uid = lower.info.st_uid;
  like.gid = lower.info.st_gid;
  if (like.type == Type::kSymlink) {
    OCIRUN_TRY_ASSIGN(const std::string text, sys::readlinkat(lower.directory, lower.name.c_str()));
    OCIRUN_TRY(sys::symlinkat(text.c_str(), parent, made));
  } else {
    OCIRUN_TRY(
        sys::mknodat(parent, made, (lower.info.st_mode & S_IFMT) | 0600, lower.info.st_rdev));
  }
  OCIRUN_TRY(set_owner_and_mode(parent, made, like));
  return sys::utimensat(parent, made, lower.info.st_atim, lower.info.st_mtim);
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
  OCIRUN_TRY(clear(parent, name.name));
  if (kind != S_IFIFO && options_.devices == DeviceNodes::kLeaveOut)
    return leave_out_device(name, parent);
  const dev_t device =
      makedev(static_cast<unsigned>(entry.device_major), static_cast<unsigned>(entry.device_minor));
  OCIRUN_TRY(sys::mknodat(parent, name.name.c_str(), kind | 0600, kind == S_IFIFO ? 0 : device));
  OCIRUN_TRY(set_owner_and_mode(parent, name.name.c_str(), entry));
  sums_.attributes_left_out += entry.xattrs.size();
  return sys::utimensat(parent, name.name.c_str(), entry.accessed, entry.modified);
}

/// Counts the device. If a layer below has an entry of the name, makes a whiteout in the place of
/// the device. Where this layer hides the path already, the whiteout does no harm.
Result<void> LayerTree::leave_out_device(const EntryName& name, Fd parent) {
  ++sums_.devices_left_out;
  LowerEntry own;
  OCIRUN_TRY_ASSIGN(const Sight sight, look_in_layer(root_.fd(), name.path(), options_.mark, own));
  if (sight == Sight::kAbsent) {
    OCIRUN_TRY_ASSIGN(const auto lower, find_below(below_, name.path(), options_.mark));
    if (!lower) return {};
  }
  return sys::mknodat(parent, name.name.c_str(), S_IFCHR, makedev(0, 0));
}

Result<void> LayerTree::add_whiteout(const TarEntry& entry, const EntryName& name, Fd parent) {
  const bool is_file = entry.type == Type::kFile || entry.type == Type::kHardLink;
  if (!is_file || (entry.type == Type::kFile && entry.size != 0))
    return refuse("a whiteout must be an empty file");
  OCIRUN_TRY_ASSIGN(const auto info, look(parent, name.name));
  if (!info) return sys::mknodat(parent, name.name.c_str(), S_IFCHR, makedev(0, 0));
  // An entry of this layer stays: a whiteout hides only entries of the layers below.
  if (!S_ISDIR(info->st_mode)) return {};
  OCIRUN_TRY_ASSIGN(const UniqueFd directory,
                    sys::openat(parent, name.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return hide_name(directory);
}

}  // namespace ocirun::pods
