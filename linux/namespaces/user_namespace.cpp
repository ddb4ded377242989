#include "linux/namespaces/user_namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "linux/namespaces/namespaces.hpp"
#include "linux/namespaces/sysctl.hpp"

namespace ocirun::linux {
namespace {

bool is_zero(const std::string& sysctl) { return read_sysctl(sysctl) == "0"; }

/// namespaces(7): an administrator can forbid a kind of namespace by setting its limit to 0.
std::string limit_of(NamespaceKind kind) {
  return fmt::format("user.max_{}_namespaces", proc_name(kind));
}

std::string why_too_many(std::uint64_t flags) {
  for (const NamespaceKind kind : kNamespaceKinds)
    if ((flags & clone_flag(kind)) != 0 && is_zero(limit_of(kind)))
      return fmt::format("the sysctl {} is 0: raise it to allow such namespaces", limit_of(kind));
  return "a limit user.max_*_namespaces is reached, or user namespaces are nested 33 deep";
}

std::string why_not_permitted(std::uint64_t flags) {
  if ((flags & CLONE_NEWUSER) == 0)
    return ::geteuid() == 0
               ? "CAP_SYS_ADMIN is missing"
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
  const auto map = own_id_map(IdKind::kUser);
  return !map || std::ranges::count(*map, Uid::kUnchanged, &IdMapping::size) != 0;
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
