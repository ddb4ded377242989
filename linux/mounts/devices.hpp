#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"

namespace ocirun::linux {

/// linux.devices[] (L-20 … L-26).
struct Device {
  enum class Kind : char { kCharacter = 'c', kBlock = 'b', kFifo = 'p' };
  Kind kind = Kind::kCharacter;
  RootfsPath path;  // MAY be anywhere, not only below /dev
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::optional<mode_t> mode;  // permission bits; absent: 0666
  Uid uid;                     // ids of the container
  Gid gid;
};

/// null zero full random urandom tty: mode 0666, owned by the container's root (L-27).
std::span<const Device> default_devices();

enum class NodeSource {
  kMakeNode,      // by mknod(2), or as kBindHostNode where the kernel refuses mknod
  kMakeNodeOnly,  // by mknod(2): the host's nodes are out of sight
  kBindHostNode,  // by a bind mount of the host's node (user namespaces, L-25)
};

/// Makes device nodes below `root`. Keeps the directory of a node open for the next node in it.
class DeviceMaker {
 public:
  DeviceMaker(const SafeDir& root, const Procfs& procfs, NodeSource source)
      : root_(root), procfs_(procfs), source_(source) {}

  /// Makes one node. Owner and mode are set through the descriptor, then verified by fstat. The
  /// caller's umask has to be 0. An existing node of the same device is left as it is. A fifo is
  /// made with mknod whatever `source` says. With kMakeNode, where the kernel refuses mknod
  /// (EPERM), the host's node is bind-mounted instead; a bound node keeps the host's owner and
  /// mode. Errors: another file of that name exists (L-21); the host has no such node; the user
  /// namespace does not map an id (L-24).
  Result<void> make(const Device& device);

 private:
  Result<void> find_place(const RootfsPath& path);
  Result<void> make_node(const Device& device);
  Result<void> bind_node(const Device& device);

  const SafeDir& root_;
  const Procfs& procfs_;
  NodeSource source_;
  std::string directory_;  // the path of place_.parent
  SafeDir::Entry place_;
};

/// Makes the node with mknod(2) only, in a directory that is already open, and verifies it as
/// DeviceMaker does. Returns false if a node of that device existed already. Errors: EPERM where
/// the filesystem or the user namespace refuses mknod.
Result<bool> make_node_at(const SafeDir::Entry& where, const Procfs& procfs, const Device& device);

/// Opens the host's node that DeviceMaker binds for `device`: the node of the same path, udev's
/// link for the device number, or a default device under its own name. Errors: the host has none of
/// these.
Result<UniqueFd> open_host_node(const Device& device);

/// The file that a device node is bound onto.
struct Cover {
  UniqueFd file;
  bool was_made;  // false: the file existed before
};
/// Makes, or else opens, the file to bind a node onto. Never follows a symlink. Errors: something
/// other than a regular file exists there.
Result<Cover> open_cover(const SafeDir::Entry& where);

/// Makes the symlinks /dev/fd, stdin, stdout, stderr and core, where their targets exist after the
/// mounts (LG-4), and /dev/ptmx -> pts/ptmx.
Result<void> make_device_links(const SafeDir& root);

/// Opens `/dev/null` of the host (O_RDWR) and verifies that it is the character device 1:3. Never
/// changes its owner.
Result<UniqueFd> open_verified_null();
/// Verifies that `fd`, O_PATH or not, is the character device 1:3.
Result<void> verify_null(Fd fd);

/// `name` below /dev: dev_path("pts/ptmx").
RootfsPath dev_path(std::string_view name);
/// Whether `path` (absolute, clean) is /dev itself.
bool is_dev_directory(std::string_view path);

/// Attaches a free loop device to `file`, which is open for reading and writing, and returns the
/// device. The kernel detaches it when the last user is gone: this descriptor, or a mount of the
/// device (Linux 5.8). Errors: the machine has no loop devices.
Result<UniqueFd> attach_loop_device(Fd file);

}  // namespace ocirun::linux
