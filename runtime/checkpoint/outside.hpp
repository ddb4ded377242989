#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/documents/descriptors.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

// What a container has from outside of itself, for CRIU: mounts of the host's files, namespaces
// that it joined, standard streams. The words are options of ocirun-criu
// (linux/checkpoint/criu_program.hpp).

/// What CRIU cannot save or restore for ocirun, a sentence for each: no mount namespace of its own;
/// a joined mount, user or cgroup namespace; a joined network, ipc, uts or time namespace together
/// with a new user namespace; a user namespace without id 0; a seccomp agent.
std::vector<std::string> why_not_checkpointed(const bundle::Config& config);
/// Error: the first of these sentences.
Result<void> check_can_be_checkpointed(const bundle::Config& config);

/// A mount whose files are the host's. `name` identifies it in the images.
struct OutsideMount {
  enum class Kind : std::uint8_t { kBind, kMask, kDevice, kCgroup };
  Kind kind = Kind::kBind;
  std::string name;                       // the destination in config.json, or the masked path
  std::string source;                     // on the host
  const linux::Mount* mount = nullptr;    // kBind, kCgroup: the entry of config.json
  std::optional<linux::Device> device{};  // kDevice
};
/// The binds of config.json, the masked files, and the devices of a container with a user
/// namespace, in which nodes are binds of the host's nodes. In a container without a cgroup
/// namespace, a mount of type cgroup shows `cgroups`, the container's own, by binds. Points into
/// `config`.
std::vector<OutsideMount> outside_mounts(const bundle::Config& config,
                                         std::span<const linux::CgroupHierarchy> cgroups);

/// The words for a dump. `root`: the root of the container's init, in which symlinks of
/// destinations are resolved. Destinations that do not exist are left out.
Result<std::vector<std::string>> words_of_mounts_for_dump(std::span<const OutsideMount> mounts,
                                                          const linux::SafeDir& root);
/// The words for a restore. `prepared`: the directory of prepared_sources.hpp, or "" where CRIU
/// binds the sources themselves.
std::vector<std::string> words_of_mounts_for_restore(std::span<const OutsideMount> mounts,
                                                     std::string_view prepared);

/// Whether CRIU itself runs in a joined namespace of that kind: ipc and uts. The container's is no
/// other than CRIU's then, so CRIU neither saves nor restores what is in it: that belongs to others
/// as well, and images may be forged.
bool works_inside(linux::NamespaceKind kind);
/// To be called in CRIU's process. Enters those of `pinned`.
Result<void> enter_for_criu(const std::vector<linux::PinnedNamespace>& pinned);
/// Opens those that the running `init` has joined.
Result<std::vector<linux::PinnedNamespace>> pin_joined_of(const bundle::Config& config,
                                                          const linux::Procfs& procfs, int init);

/// The names of joined namespaces in the images; those of engines' images.
std::string namespace_key(linux::NamespaceKind kind);
/// The words for namespaces that `init` joined, by their inodes.
Result<std::vector<std::string>> words_of_namespaces_for_dump(const bundle::Config& config,
                                                              const linux::Procfs& procfs,
                                                              int init);

/// Reads what the standard streams of `init` are. A stream that init has closed is ""; a file that
/// no mount of the container shows is "file[MOUNT:INODE]", its name for CRIU. A terminal of the
/// host is "terminal[MOUNT:INODE]": with --shell-job, CRIU puts its own terminal in place of it.
Result<bundle::StandardStreams> read_standard_streams(const linux::Procfs& procfs, int init);
std::vector<std::string> words_of_streams_for_dump(const bundle::StandardStreams& streams);
/// The words that give the caller's own 0, 1 and 2 to the restored process in place of pipes and of
/// such files.
std::vector<std::string> words_of_streams(const bundle::StandardStreams& streams);

/// Makes the mount points of the document that lie on the root filesystem itself and are missing,
/// below the root, as `create` does.
Result<void> make_mount_points(const bundle::Config& config);

}  // namespace ocirun::runtime
