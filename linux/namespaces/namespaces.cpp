#include "linux/namespaces/namespaces.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "linux/base/syscalls.hpp"
#include "linux/namespaces/sysctl.hpp"
#include "linux/process/capabilities.hpp"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

namespace ocirun::linux {
namespace {

struct KindNames {
  NamespaceKind kind;
  std::string_view config;
  std::string_view proc;
  std::uint64_t flag;
};

constexpr std::array kNames{
    KindNames{NamespaceKind::kUser, "user", "user", CLONE_NEWUSER},
    KindNames{NamespaceKind::kCgroup, "cgroup", "cgroup", CLONE_NEWCGROUP},
    KindNames{NamespaceKind::kIpc, "ipc", "ipc", CLONE_NEWIPC},
    KindNames{NamespaceKind::kUts, "uts", "uts", CLONE_NEWUTS},
    KindNames{NamespaceKind::kNetwork, "network", "net", CLONE_NEWNET},
    KindNames{NamespaceKind::kPid, "pid", "pid", CLONE_NEWPID},
    KindNames{NamespaceKind::kTime, "time", "time", CLONE_NEWTIME},
    KindNames{NamespaceKind::kMount, "mount", "mnt", CLONE_NEWNS},
};

constexpr const KindNames& names_of(NamespaceKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string_view config_name(NamespaceKind kind) { return names_of(kind).config; }
std::string_view proc_name(NamespaceKind kind) { return names_of(kind).proc; }
std::uint64_t clone_flag(NamespaceKind kind) { return names_of(kind).flag; }

Result<void> NamespaceSet::add(Namespace entry) {
  if (contains(entry.kind))
    return refuse("namespace \"{}\" is listed twice", config_name(entry.kind));
  entries_.push_back(std::move(entry));
  return {};
}

const Namespace* NamespaceSet::find(NamespaceKind kind) const {
  const auto found = std::ranges::find(entries_, kind, &Namespace::kind);
  return found == entries_.end() ? nullptr : &*found;
}

bool NamespaceSet::creates(NamespaceKind kind) const {
  const Namespace* entry = find(kind);
  return entry != nullptr && !entry->path;
}

bool NamespaceSet::joins(NamespaceKind kind) const {
  const Namespace* entry = find(kind);
  return entry != nullptr && entry->path.has_value();
}

std::uint64_t NamespaceSet::new_flags() const {
  std::uint64_t flags = 0;
  for (const Namespace& entry : entries_)
    if (!entry.path) flags |= clone_flag(entry.kind);
  return flags;
}

namespace {

// Whether `path` refers to the caller's own namespace.
bool is_own_namespace(NamespaceKind kind, const HostPath& path) {
  const std::string own_path = fmt::format("/proc/self/ns/{}", proc_name(kind));
  const auto own = sys::open(own_path.c_str(), O_PATH);
  const auto other = sys::open(path.c_str(), O_PATH);  // O_PATH: opening a fifo would block
  if (!own || !other) return false;
  return sys::is_same_file(*own, *other).value_or(false);
}

Result<PinnedNamespace> pin_namespace(NamespaceKind kind, const std::string& path) {
  // O_NONBLOCK: opening a fifo would block.
  OCIRUN_TRY_ASSIGN(UniqueFd fd, sys::open(path.c_str(), O_RDONLY | O_NONBLOCK));
  const int type = ::ioctl(fd.get(), NS_GET_NSTYPE);
  if (type < 0 || static_cast<std::uint64_t>(static_cast<unsigned>(type)) != clone_flag(kind))
    return fail(EINVAL,
                "{1} is not a {0} namespace; give the path of one, such as /proc/PID/ns/{2}",
                config_name(kind), path, proc_name(kind));
  return PinnedNamespace{kind, std::move(fd)};
}

}  // namespace

std::optional<std::string> why_not_isolated(const Namespace& entry, std::string_view harm) {
  if (!entry.path || !is_own_namespace(entry.kind, *entry.path)) return std::nullopt;
  return fmt::format(
      "{} is the {} namespace of the runtime itself, and {}; join another one, or leave the path "
      "out to get a new one",
      entry.path->string(), config_name(entry.kind), harm);
}

Result<std::vector<PinnedNamespace>> pin_namespaces(const NamespaceSet& set) {
  std::vector<PinnedNamespace> pinned;
  for (const NamespaceKind kind : kNamespaceKinds) {
    const Namespace* entry = set.find(kind);
    if (entry == nullptr || !entry->path) continue;
    OCIRUN_TRY_ASSIGN(PinnedNamespace one,
                      within(pin_namespace(kind, entry->path->string()),
                             "/linux/namespaces/{}/path: join the {} namespace",
                             entry - set.entries().data(), config_name(kind)));
    pinned.push_back(std::move(one));
  }
  return pinned;
}

Result<UniqueFd> open_namespace(Fd procfs, int pid, NamespaceKind kind) {
  return sys::openat(procfs, fmt::format("{}/ns/{}", pid, proc_name(kind)).c_str(),
                     O_RDONLY | O_CLOEXEC);
}

Result<UniqueFd> owning_user_namespace(Fd space) {
  UniqueFd owner(::ioctl(space.value, NS_GET_USERNS));
  if (!owner) return fail(errno, "find the user namespace that owns a namespace");
  return owner;
}

Result<bool> is_user_namespace_asked(const NamespaceSet& set, Fd user, Fd own) {
  const Namespace* const entry = set.find(NamespaceKind::kUser);
  if (entry == nullptr) return sys::is_same_file(user, own);
  if (entry->path) {
    OCIRUN_TRY_ASSIGN(const UniqueFd joined, sys::open(entry->path->c_str(), O_PATH));
    return sys::is_same_file(user, joined);
  }
  OCIRUN_TRY_ASSIGN(const UniqueFd parent, owning_user_namespace(user));
  return sys::is_same_file(parent, own);
}

namespace {

bool is_zero(const std::string& sysctl) { return read_sysctl(sysctl) == "0"; }

/// The sysctl that limits the number of namespaces of a kind. An administrator can forbid the kind
/// by setting the limit to 0 (namespaces(7)).
std::string limit_of(NamespaceKind kind) {
  return fmt::format("user.max_{}_namespaces", proc_name(kind));
}

std::string why_too_many(std::uint64_t flags) {
  for (const NamespaceKind kind : kNamespaceKinds)
    if ((flags & clone_flag(kind)) != 0 && is_zero(limit_of(kind)))
      return fmt::format("the sysctl {} is 0: raise it to allow such namespaces", limit_of(kind));
  return "a limit user.max_*_namespaces is reached, or user namespaces are nested 33 deep";
}

std::string why_root_is_refused() {
  const auto capabilities = grantable_capabilities({});
  if (!capabilities || !capabilities->permitted.has(CAP_SYS_ADMIN))
    return "CAP_SYS_ADMIN is missing";
  return "a seccomp filter outside of ocirun or a security module refuses clone with new "
         "namespaces: allow it there (in the profile of an outer container, or in "
         "SystemCallFilter= and RestrictNamespaces= of a unit)";
}

std::string why_not_permitted(std::uint64_t flags) {
  if ((flags & CLONE_NEWUSER) == 0)
    return ::geteuid() == 0
               ? why_root_is_refused()
               : "an ordinary user needs a user namespace: list {\"type\": \"user\"} with mappings "
                 "in /linux (`ocirun spec --rootless` does)";
  if (is_zero("kernel.unprivileged_userns_clone"))
    return "the sysctl kernel.unprivileged_userns_clone is 0: set it to 1 to let users make user "
           "namespaces";
  if (std::string reason = why_user_namespace_is_powerless(); !reason.empty()) return reason;
  return "user namespaces are forbidden here: by a seccomp filter or security module (of an outer "
         "container?), or because this is a chroot";
}

}  // namespace

Result<std::vector<IdMapping>> own_id_map(IdKind kind) {
  return read_id_map(Fd{AT_FDCWD},
                     kind == IdKind::kUser ? "/proc/self/uid_map" : "/proc/self/gid_map");
}

bool is_in_initial_user_namespace() {
  constexpr unsigned kInitialInode = 0xEFFFFFFD;  // USER_NS_INIT_INO of <linux/nsfs.h>, Linux 3.8
  const auto own = sys::readlinkat(Fd{AT_FDCWD}, "/proc/self/ns/user");
  return !own || *own == fmt::format("user:[{}]", kInitialInode);
}

bool is_root_outside() {
  if (::geteuid() != 0) return false;
  const IdMap own{.uids = own_id_map(IdKind::kUser).value_or(std::vector<IdMapping>()), .gids = {}};
  return own.host_uid(Uid{}).value_or(0) == 0;
}

std::string why_namespaces_are_refused(int error, std::uint64_t flags) {
  switch (error) {
    case ENOSPC:
    case EUSERS:
      return why_too_many(flags);
    case EPERM:
      return why_not_permitted(flags);
    case EINVAL:
      return "the kernel was built without one of these kinds of namespaces";
    default:
      return "";
  }
}

std::string why_user_namespace_is_powerless() {
  if (::geteuid() == 0 || read_sysctl("kernel.apparmor_restrict_unprivileged_userns") != "1")
    return "";
  return "the sysctl kernel.apparmor_restrict_unprivileged_userns is 1: set it to 0, or load an "
         "AppArmor profile for ocirun that has \"userns,\"";
}

}  // namespace ocirun::linux
