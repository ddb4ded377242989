#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/documents/state.hpp"
#include "criu/compare/host_mounts.hpp"
#include "linux/base/error.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/mounts/mount.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::runtime {

// What a container has from outside of itself, for CRIU: namespaces that it joined, standard
// streams, mounts. The words are options of ocirun-criu (criu/launch/criu_program.hpp).

/// The reasons for which CRIU cannot save or restore this container, a sentence for each: no mount
/// namespace of its own; a joined mount, user or cgroup namespace; a joined network, ipc, uts or
/// time namespace together with a new user namespace; a user namespace without id 0; a seccomp
/// agent.
std::vector<std::string> why_not_checkpointed(const bundle::Config& config);
/// Error: the first sentence of why_not_checkpointed().
Result<void> check_can_be_checkpointed(const bundle::Config& config);

/// To be called in CRIU's process. Enters the ipc and uts namespaces of `pinned`.
Result<void> enter_for_criu(const std::vector<linux::PinnedNamespace>& pinned);
/// Opens the ipc and uts namespaces that the running `init` has joined.
Result<std::vector<linux::PinnedNamespace>> pin_joined_of(const bundle::Config& config,
                                                          const linux::Procfs& procfs, int init);

/// The name that images give to a joined network or pid namespace, the same as in runc's images.
/// `kind` is kNetwork or kPid.
std::string namespace_key(linux::NamespaceKind kind);
/// The words for the network and pid namespaces that `init` has joined, by their inodes.
Result<std::vector<std::string>> words_of_namespaces_for_dump(const bundle::Config& config,
                                                              const linux::Procfs& procfs,
                                                              int init);

/// Reads what the standard streams of `init` are. A stream that init has closed is ""; a file that
/// no mount of the container shows is "file[MOUNT:INODE]", its name for CRIU. A terminal of the
/// host is "terminal[MOUNT:INODE]": with --shell-job, CRIU puts its own terminal in place of it.
Result<bundle::StandardStreams> read_standard_streams(const linux::Procfs& procfs, int init);
std::vector<std::string> words_of_streams_for_dump(const bundle::StandardStreams& streams);
/// The words that give the caller's own 0, 1 and 2 to the restored process in place of pipes, and
/// of files that no mount of the container shows ("file[…]").
std::vector<std::string> words_of_streams_for_restore(const bundle::StandardStreams& streams);

/// The words for a dump. `root`: the root of the container's init, in which symlinks of
/// destinations are resolved. Destinations that do not exist are left out.
Result<std::vector<std::string>> words_of_mounts_for_dump(std::span<const OutsideMount> mounts,
                                                          const linux::SafeDir& root);
/// The words for a restore. `prepared`: the directory of prepared_sources.hpp, or "" where CRIU
/// binds the sources themselves.
std::vector<std::string> words_of_mounts_for_restore(std::span<const OutsideMount> mounts,
                                                     std::string_view prepared);

/// Makes the mount points of the document that lie on the root filesystem itself and are missing,
/// below the root, as `create` does.
Result<void> make_mount_points(const bundle::Config& config);

}  // namespace ocirun::runtime
