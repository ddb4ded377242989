#include "runtime/enter.hpp"

#include <fcntl.h>

#include <cerrno>

#include "linux/syscalls.hpp"
#include "runtime/init_namespaces.hpp"
#include "runtime/join.hpp"

namespace ocirun::runtime {

using linux::NamespaceKind;

Result<std::vector<linux::PinnedNamespace>> pin_container_namespaces(
    const linux::ProcessIdentity& init, const bundle::Config& config,
    std::span<const NamespaceKind> kinds) {
  std::vector<linux::PinnedNamespace> pinned;
  for (const NamespaceKind kind : kinds) {
    if (!config.namespaces.contains(kind)) continue;
    const std::string path = fmt::format("/proc/{}/ns/{}", init.pid, linux::proc_name(kind));
    TRY_ASSIGN(UniqueFd fd, linux::sys::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    pinned.push_back({kind, std::move(fd)});
  }
  // They are init's only if init is still there after they were opened.
  TRY_ASSIGN(const bool alive, linux::find_alive(init));
  if (!alive) return std::unexpected(Error(ESRCH, "container not running"));
  return pinned;
}

Result<void> enter_container(std::span<const linux::PinnedNamespace> pinned,
                             const bundle::Config& config) {
  const bool changes_user = config.namespaces.contains(NamespaceKind::kUser);
  return join_namespaces(pinned, changes_user, [&]() -> Result<void> {
    TRY(join_user_namespace(pinned));
    return changes_user ? become_namespace_root(config) : Result<void>{};
  });
}

}  // namespace ocirun::runtime
