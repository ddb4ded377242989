#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/ids.hpp"
#include "linux/base/paths.hpp"
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

/// null zero full random urandom tty, mode 0666, owned by the container's root (L-27).
std::span<const Device> default_devices();

/// How a node comes to be: mknod(2), or a bind mount of the host's node where mknod is refused
/// (user namespaces, L-25).
enum class NodeSource { kMakeNode, kBindHostNode };

/// Makes one device node below `root`, ownership and mode set by fd, then verified by fstat. Wants
/// umask 0. A node that is there already and is that very device is left as it is; a fifo is made
/// in any case. mknod that the kernel refuses (EPERM) becomes a bind mount too; a bound node has
/// the host's owner and mode. Errors: something else of that name exists already (L-21); the host
/// has no such node; an id that the user namespace does not map (L-24).
Result<void> make_device(const SafeDir& root, const Procfs& procfs, const Device& device,
                         NodeSource source);

/// mknod(2) alone, in a directory that is open already; the same verification. False: that very
/// device was there. Errors: EPERM where the filesystem or the user namespace refuses mknod.
Result<bool> make_node_at(const SafeDir::Entry& where, const Procfs& procfs, const Device& device);

/// What make_device() binds for it: the host's node of that device by the same name, by udev's link
/// of its number, or a default device under its own name. Errors: the host has none.
Result<UniqueFd> open_host_node(const Device& device);

/// What a node is bound onto.
struct Cover {
  UniqueFd file;
  bool was_made;  // false: a file was there
};
/// A file to bind a node onto, made if there is none. Never through a symlink. Errors: something
/// else is there.
Result<Cover> open_cover(const SafeDir::Entry& where);

/// /dev/fd, stdin, stdout, stderr, core, where their targets exist after the mounts (LG-4), and
/// /dev/ptmx -> pts/ptmx.
Result<void> make_device_links(const SafeDir& root);

/// Opens `/dev/null` of the host (O_RDWR) and proves it a character device 1:3. Never changes its
/// owner.
Result<UniqueFd> open_verified_null();
/// Proves that `fd`, O_PATH or not, is the character device 1:3.
Result<void> verify_null(Fd fd);

/// `name` below /dev: dev_path("pts/ptmx").
RootfsPath dev_path(std::string_view name);
/// Whether `path` (absolute, clean) is /dev itself.
bool is_dev_directory(std::string_view path);

}  // namespace ocirun::linux
