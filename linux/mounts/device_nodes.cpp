#include "linux/mounts/device_nodes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <ranges>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/detached_mount.hpp"

namespace ocirun::linux {
namespace {

// <sys/mount.h> and <linux/mount.h> cannot be included together.
constexpr int kNoFollow = 8;  // UMOUNT_NOFOLLOW
constexpr int kDirectory = O_PATH | O_DIRECTORY | O_NOFOLLOW;

void remove_name(const SafeDir::Entry& where, int flags) {
  ignore(sys::unlinkat(where.parent, where.name.c_str(), flags));
}

Result<Device> device_of(const struct stat& info, RootfsPath path) {
  if (!S_ISCHR(info.st_mode) && !S_ISBLK(info.st_mode))
    return refuse("it is no character or block device of the host");
  Device device;
  device.kind = S_ISBLK(info.st_mode) ? Device::Kind::kBlock : Device::Kind::kCharacter;
  device.path = std::move(path);
  device.major = static_cast<std::int64_t>(major(info.st_rdev));
  device.minor = static_cast<std::int64_t>(minor(info.st_rdev));
  device.mode = info.st_mode & mode_t{0777};
  OCIRUN_TRY_ASSIGN(device.uid, Uid::make(info.st_uid));
  OCIRUN_TRY_ASSIGN(device.gid, Gid::make(info.st_gid));
  return device;
}

bool is_same(const Device& a, const Device& b) {
  return a.kind == b.kind && a.major == b.major && a.minor == b.minor;
}

Result<bool> is_mount_point(const SafeDir::Entry& where) {
  OCIRUN_TRY_ASSIGN(const std::uint64_t own, sys::mount_id(where.parent, where.name.c_str()));
  OCIRUN_TRY_ASSIGN(const std::uint64_t around, sys::mount_id(where.parent));
  return own != around;
}

Result<void> unmount(const SafeDir::Entry& where) {
  OCIRUN_TRY(sys::fchdir(where.parent));
  return sys::unmount(where.name.c_str(), sys::kDetach | kNoFollow);
}

/// Attaches `tree` at the path. Returns whether the covered file was made for this purpose.
Result<bool> bind_node(const SafeDir::Entry& where, Fd tree) {
  OCIRUN_TRY_ASSIGN(const Cover cover, open_cover(where));
  auto bound = sys::move_mount(tree, cover.file);
  if (!bound && cover.was_made) remove_name(where, 0);
  OCIRUN_TRY(std::move(bound));
  return cover.was_made;
}

// ocirun binds a node onto an empty file. Any other file belongs to the container.
bool is_empty_file(const SafeDir::Entry& where) {
  const auto info = sys::fstatat(where.parent, where.name.c_str());
  return info && S_ISREG(info->st_mode) && info->st_size == 0;
}

// The clone is at first a peer of the host's /dev: a mount that the container puts over the node
// would appear on the host. So the clone is made private.
Result<UniqueFd> clone_node(Fd node) {
  OCIRUN_TRY_ASSIGN(UniqueFd tree,
                    sys::open_tree(node, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH));
  OCIRUN_TRY(set_mount_attributes(tree, kHostNode, Recursion::kTop, Propagation::kPrivate));
  return tree;
}

}  // namespace

Result<HostDevice> open_host_device(const HostPath& host, RootfsPath path) {
  const auto open = [&]() -> Result<HostDevice> {
    OCIRUN_TRY_ASSIGN(const UniqueFd node, sys::open(host.c_str(), O_PATH));
    OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstat(node));
    HostDevice found;
    OCIRUN_TRY_ASSIGN(found.device, device_of(info, std::move(path)));
    found.tree = clone_node(node);
    return found;
  };
  return within(open(), "device " + host.string());
}

/// Opens the parent of `path`. Follows no symlink.
Result<SafeDir::Entry> NodeChanges::open_parent(const RootfsPath& path, Missing missing) {
  std::vector<std::string> names;
  for (std::string_view rest = path.string(); !rest.empty();) {
    const std::string_view name = cut(rest, '/');
    if (name == "..") return refuse("\"..\" is not allowed in a device's path");
    if (!name.empty() && name != ".") names.emplace_back(name);
  }
  if (names.empty()) return refuse("\"{}\" names no device", path.string());
  OCIRUN_TRY_ASSIGN(UniqueFd directory, sys::openat(root_.fd(), ".", kDirectory));
  for (const std::string& name : names | std::views::take(names.size() - 1)) {
    auto next = sys::openat(directory, name.c_str(), kDirectory);
    if (!next && next.error().number() == ENOENT && missing == Missing::kIsMade) {
      const auto made = sys::mkdirat(directory, name.c_str(), 0755);
      if (!made && made.error().number() != EEXIST) return std::unexpected(made.error());
      next = sys::openat(directory, name.c_str(), kDirectory);
      if (made)
        undo_.emplace_back([where = SafeDir::Entry{std::move(directory), name}] {
          remove_name(where, AT_REMOVEDIR);
        });
    }
    OCIRUN_TRY_ASSIGN(directory, std::move(next));
  }
  return SafeDir::Entry{.parent = std::move(directory), .name = names.back()};
}

Result<void> NodeChanges::add(const HostDevice& device) {
  return within(add_node(device), "device " + device.device.path.string());
}

Result<void> NodeChanges::add_node(const HostDevice& device) {
  OCIRUN_TRY_ASSIGN(SafeDir::Entry where, open_parent(device.device.path, Missing::kIsMade));
  if (source_ == NodeSource::kMakeNode) {
    auto made = make_node_at(where, procfs_, device.device);
    if (made) {
      if (*made) undo_.emplace_back([where = std::move(where)] { remove_name(where, 0); });
      return {};
    }
    if (made.error().number() != EPERM) return std::unexpected(std::move(made).error());
  }
  if (!device.tree)
    return std::unexpected(Error(device.tree.error()).within("bind the host's node"));
  if (const auto there = sys::fstatat(where.parent, where.name.c_str()); there) {
    const auto found = device_of(*there, device.device.path);
    if (found && is_same(*found, device.device)) return {};
  }
  OCIRUN_TRY_ASSIGN(const bool was_made,
                    within(bind_node(where, *device.tree), "bind the host's node"));
  undo_.emplace_back([where = std::move(where), was_made] {
    ignore(unmount(where));
    if (was_made) remove_name(where, 0);
  });
  return {};
}

Result<bool> NodeChanges::remove(const Device& device) {
  return within(remove_node(device), "device " + device.path.string());
}

Result<bool> NodeChanges::remove_node(const Device& device) {
  OCIRUN_TRY_ASSIGN(SafeDir::Entry where, open_parent(device.path, Missing::kIsAnError));
  OCIRUN_TRY_ASSIGN(const struct stat info, sys::fstatat(where.parent, where.name.c_str()));
  const auto found = device_of(info, device.path);
  if (!found || !is_same(*found, device)) return false;
  OCIRUN_TRY_ASSIGN(const bool bound, is_mount_point(where));
  if (!bound) {
    OCIRUN_TRY(sys::unlinkat(where.parent, where.name.c_str(), 0));
    undo_.emplace_back([this, where = std::move(where), device = *found] {
      ignore(make_node_at(where, procfs_, device));
    });
    return true;
  }
  OCIRUN_TRY_ASSIGN(UniqueFd tree,
                    sys::open_tree(where.parent, where.name.c_str(),
                                   OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW));
  OCIRUN_TRY(unmount(where));
  auto uncovered =
      is_empty_file(where) ? sys::unlinkat(where.parent, where.name.c_str(), 0) : Result<void>{};
  undo_.emplace_back(
      [where = std::move(where), tree = std::move(tree)] { ignore(bind_node(where, tree)); });
  OCIRUN_TRY(std::move(uncovered));
  return true;
}

NodeChanges::~NodeChanges() {
  for (auto& undo : std::views::reverse(undo_)) undo();
}

}  // namespace ocirun::linux
