#include "criu/request/new_namespaces.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "criu/compare/container_namespaces.hpp"
#include "criu/compare/thread.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/detached_mount.hpp"
#include "linux/namespaces/sysctl.hpp"
#include "linux/network/interfaces.hpp"
#include "runtime/init/namespaces.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

// The namespaces to enter for the sysctls. The user namespace comes first, because the user
// namespace owns the other namespaces.
constexpr std::array kOfSysctls{NamespaceKind::kUser, NamespaceKind::kNetwork, NamespaceKind::kIpc,
                                NamespaceKind::kUts};

}  // namespace

Result<void> NewNamespaces::compare() const {
  for (const linux::Namespace& entry : config.namespaces.entries()) {
    if (entry.kind == NamespaceKind::kCgroup || entry.kind == NamespaceKind::kTime) continue;
    const std::string_view name = linux::config_name(entry.kind);
    OCIRUN_TRY_ASSIGN(const std::string found, namespace_link(procfs, init, entry.kind));
    OCIRUN_TRY_ASSIGN(const std::string own, namespace_link(procfs, ::getpid(), entry.kind));
    if (!entry.path && !own.empty() && found == own)
      return refuse(
          "the images have no {} namespace of their own: /linux/namespaces of config.json asks for "
          "a new one",
          name);
    const auto pinned = std::ranges::find(joined, entry.kind, &linux::PinnedNamespace::kind);
    if (pinned == joined.end()) continue;
    OCIRUN_TRY_ASSIGN(const bool is_named, names(found, *pinned));
    if (!is_named)
      return refuse("the restored process is not in the {} namespace {} that config.json names",
                    name, entry.path->string());
  }
  return {};
}

Result<void> NewNamespaces::work_inside(
    const std::function<Result<void>(const linux::Procfs& full)>& work) const {
  OCIRUN_TRY_ASSIGN(const linux::Procfs full, linux::Procfs::open(linux::Procfs::Subset::kFull));
  return in_child("set up the namespaces", [&]() -> Result<void> {
    for (const NamespaceKind kind : kOfSysctls) {
      if (!config.namespaces.contains(kind)) continue;
      const auto pinned = std::ranges::find(joined, kind, &linux::PinnedNamespace::kind);
      UniqueFd made;
      if (pinned == joined.end()) {
        OCIRUN_TRY_ASSIGN(made, linux::open_namespace(procfs.fd(), init, kind));
      }
      OCIRUN_TRY(
          enter_container_namespace(pinned == joined.end() ? Fd(made) : Fd(pinned->fd), kind));
    }
    if (config.namespaces.creates(NamespaceKind::kUser)) OCIRUN_TRY(become_namespace_root(config));
    return work(full);
  });
}

Result<void> NewNamespaces::set_up() const {
  const auto sysctls = linux::select_sysctls(config.sysctls, linux::SysctlsOf::kTheRest);
  const bool brings_loopback_up = config.namespaces.creates(NamespaceKind::kNetwork);
  // A container with CAP_SYS_ADMIN may have changed the host name and the domain name before the
  // checkpoint: the images have the newer names.
  const bool sets_names =
      config.namespaces.creates(NamespaceKind::kUts) && !has_in_bounding_set(config, CAP_SYS_ADMIN);
  if (sysctls.empty() && !brings_loopback_up && !sets_names) return {};
  return work_inside([&](const linux::Procfs& full) -> Result<void> {
    if (sets_names) OCIRUN_TRY(set_names(config));
    if (brings_loopback_up) OCIRUN_TRY(linux::bring_loopback_up());
    return linux::write_sysctls(sysctls, full);
  });
}

Result<void> NewNamespaces::write_device_sysctls() const {
  const auto sysctls = linux::select_sysctls(config.sysctls, linux::SysctlsOf::kInterfaces);
  if (sysctls.empty()) return {};
  return work_inside(
      [&](const linux::Procfs& full) { return linux::write_sysctls(sysctls, full); });
}

using linux::NamespaceKind;

Result<void> make_root_read_only(const linux::Procfs& procfs, int pid) {
  OCIRUN_TRY_ASSIGN(const UniqueFd mount_namespace,
                    linux::open_namespace(procfs.fd(), pid, NamespaceKind::kMount));
  auto changed = in_child("change the root", [&]() -> Result<void> {
    OCIRUN_TRY(enter_container_namespace(mount_namespace, NamespaceKind::kMount));
    OCIRUN_TRY_ASSIGN(const UniqueFd root, linux::sys::open("/", O_PATH | O_DIRECTORY));
    return linux::set_mount_attributes(root, {.set = MOUNT_ATTR_RDONLY, .clear = 0},
                                       linux::Recursion::kTop);
  });
  return within(std::move(changed), "/root/readonly: make the restored root read-only");
}

}  // namespace ocirun::runtime
