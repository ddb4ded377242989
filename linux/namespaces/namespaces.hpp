#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/namespaces/id_map.hpp"
#include "linux/namespaces/subordinate_ids.hpp"

namespace ocirun::linux {

/// config-linux.md#namespaces: the eight kinds (L-1), in the order in which they are joined.
enum class NamespaceKind { kUser, kCgroup, kIpc, kUts, kNetwork, kPid, kTime, kMount };
inline constexpr std::array kNamespaceKinds{
    NamespaceKind::kUser,    NamespaceKind::kCgroup, NamespaceKind::kIpc,  NamespaceKind::kUts,
    NamespaceKind::kNetwork, NamespaceKind::kPid,    NamespaceKind::kTime, NamespaceKind::kMount};

/// The name in config.json: "network", "mount", …
std::string_view config_name(NamespaceKind kind);
/// The name in /proc/PID/ns: "net", "mnt", …
std::string_view proc_name(NamespaceKind kind);
/// The CLONE_NEW* flag. CLONE_NEWTIME is valid for unshare(2) and setns(2), not for clone(2).
std::uint64_t clone_flag(NamespaceKind kind);

/// One entry of linux.namespaces: a new namespace, or one to join by path (L-2, L-3).
struct Namespace {
  NamespaceKind kind;
  std::optional<HostPath> path;
};

/// The namespaces a container asks for; a kind that is not listed is the runtime's own (L-4).
class NamespaceSet {
 public:
  /// Errors: the kind is listed already (L-5).
  Result<void> add(Namespace entry);
  bool creates(NamespaceKind kind) const;
  bool joins(NamespaceKind kind) const;
  bool contains(NamespaceKind kind) const { return find(kind) != nullptr; }
  const Namespace* find(NamespaceKind kind) const;
  const std::vector<Namespace>& entries() const { return entries_; }
  /// The CLONE_NEW* flags of all new namespaces.
  std::uint64_t new_flags() const;

 private:
  std::vector<Namespace> entries_;
};

/// Why `entry` isolates nothing: its path is the namespace that the caller is in. The result is the
/// end of a sentence, with the remedy; the caller puts a JSON pointer before it. `harm` is the
/// consequence ("the host would be renamed"). Nothing for other entries, and for a path that cannot
/// be opened, which pin_namespaces() reports.
std::optional<std::string> why_not_isolated(const Namespace& entry, std::string_view harm);

/// A namespace that is open and verified to be of its kind. No namespace is joined before all are
/// open (L-3).
struct PinnedNamespace {
  NamespaceKind kind;
  UniqueFd fd;
};

/// Opens every namespace of `set` that has a path and checks its kind with NS_GET_NSTYPE.
/// Errors name the entry: ENOENT …; EINVAL when the file is not a namespace of that kind.
Result<std::vector<PinnedNamespace>> pin_namespaces(const NamespaceSet& set);

/// Opens a namespace of process `pid`. `procfs` is a directory of a procfs. Errors: those of
/// open(2).
Result<UniqueFd> open_namespace(Fd procfs, int pid, NamespaceKind kind);

/// The user namespace that owns the namespace; of a user namespace, its parent. Errors: EPERM if
/// the owner is neither the caller's user namespace nor below it.
Result<UniqueFd> owning_user_namespace(Fd space);

/// Whether `user` is the user namespace that `set` asks for, of a container that a process in the
/// user namespace `own` has made: a new one below `own`, the one at a path, or `own` itself.
/// Errors: the path cannot be opened, for example because its process has ended.
Result<bool> is_user_namespace_asked(const NamespaceSet& set, Fd user, Fd own);

/// linux.timeOffsets (L-12).
struct TimeOffset {
  enum class Clock { kMonotonic, kBoottime };
  Clock clock;
  std::int64_t seconds = 0;
  std::uint32_t nanoseconds = 0;  // 0 … 999999999
};

/// The map of the user namespace that the caller is in. Errors: /proc cannot be read; ENOENT: the
/// kernel has no user namespaces.
Result<std::vector<IdMapping>> own_id_map(IdKind kind);

/// Whether the caller is in the initial user namespace, by the namespace's inode: the map says
/// nothing, because another user namespace may map each id to itself (PrivateUsers=full of
/// systemd). True where the kernel has no user namespaces, and where /proc cannot be read.
bool is_in_initial_user_namespace();

/// Whether the caller is root, and root outside the caller's user namespace too. Such a root owns
/// root's files, and has root's service manager, but root's capabilities only in the initial user
/// namespace.
bool is_root_outside();

/// Why clone3(2) or unshare(2) refused the namespaces of `flags` (CLONE_NEW*) with `error`: the
/// sysctl, limit or field of config.json to change, as a sentence; "" where nothing more is known.
std::string why_namespaces_are_refused(int error, std::uint64_t flags);

/// Why a new user namespace has no privileges (writing its maps, or its first mount, is refused):
/// Ubuntu's kernel.apparmor_restrict_unprivileged_userns. "" for any other reason.
std::string why_user_namespace_is_powerless();

}  // namespace ocirun::linux
