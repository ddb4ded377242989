#include "runtime/checkpoint/new_namespaces.hpp"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "linux/network/netlink.hpp"
#include "runtime/checkpoint/in_child.hpp"
#include "runtime/init/namespaces.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

// Those that sysctls belong to. The user namespace first: it owns the others.
constexpr std::array kOfSysctls{NamespaceKind::kUser, NamespaceKind::kNetwork, NamespaceKind::kIpc,
                                NamespaceKind::kUts};

}  // namespace

Result<void> NewNamespaces::write_inside(std::span<const linux::Sysctl> sysctls,
                                         bool has_new_network) const {
  if (sysctls.empty() && !has_new_network) return {};
  TRY_ASSIGN(const linux::Procfs full, linux::Procfs::open(linux::Procfs::Subset::kFull));
  return in_child("the process that sets up the namespaces", [&]() -> Result<void> {
    for (const NamespaceKind kind : kOfSysctls) {
      if (!config.namespaces.contains(kind)) continue;
      const auto pinned = std::ranges::find(joined, kind, &linux::PinnedNamespace::kind);
      UniqueFd made;
      if (pinned == joined.end()) {
        TRY_ASSIGN(made,
                   linux::sys::openat(procfs.fd(),
                                      fmt::format("{}/ns/{}", init, linux::proc_name(kind)).c_str(),
                                      O_RDONLY | O_CLOEXEC));
      }
      const Fd entered = pinned == joined.end() ? Fd(made) : Fd(pinned->fd);
      if (::setns(entered.value, static_cast<int>(linux::clone_flag(kind))) != 0)
        return fail(errno, "enter the container's {} namespace", linux::config_name(kind));
    }
    if (config.namespaces.creates(NamespaceKind::kUser)) TRY(become_namespace_root(config));
    if (has_new_network) TRY(linux::bring_loopback_up());
    return linux::write_sysctls(sysctls, full);
  });
}

Result<void> NewNamespaces::set_up() const {
  return write_inside(linux::select_sysctls(config.sysctls, linux::SysctlsOf::kTheRest),
                      config.namespaces.creates(NamespaceKind::kNetwork));
}

Result<void> NewNamespaces::set_devices_up() const {
  return write_inside(linux::select_sysctls(config.sysctls, linux::SysctlsOf::kInterfaces), false);
}

}  // namespace ocirun::runtime
