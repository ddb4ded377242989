#include "runtime/init/enter.hpp"

#include <fcntl.h>

#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "runtime/init/join.hpp"
#include "runtime/init/namespaces.hpp"

namespace ocirun::runtime {

using linux::NamespaceKind;

namespace {

// A thread of `pid` that still has namespaces, as "/proc/7/task/9". The main thread loses its own
// when it ends. "" if there is no such thread.
std::string find_living_thread(int pid) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  const auto directory = linux::sys::open(tasks.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::string found;
  if (!directory) return found;
  static_cast<void>(linux::for_each_entry(*directory, [&](const char* name, unsigned char) {
    const std::string thread = fmt::format("{}/{}", tasks, name);
    if (found.empty() && linux::sys::open((thread + "/ns/mnt").c_str(), O_RDONLY | O_CLOEXEC))
      found = thread;
    return Result<void>{};
  }));
  return found;
}

Result<UniqueFd> open_namespace(const std::string& thread, NamespaceKind kind) {
  const std::string path = fmt::format("{}/ns/{}", thread, linux::proc_name(kind));
  return linux::sys::open(path.c_str(), O_RDONLY | O_CLOEXEC);
}

}  // namespace

Result<std::vector<linux::PinnedNamespace>> pin_container_namespaces(
    const linux::ProcessIdentity& init, const bundle::Config& config,
    std::span<const NamespaceKind> kinds) {
  std::vector<linux::PinnedNamespace> pinned;
  std::string thread = fmt::format("/proc/{}", init.pid);
  for (const NamespaceKind kind : kinds) {
    if (!config.namespaces.contains(kind)) continue;
    auto fd = open_namespace(thread, kind);
    if (!fd && fd.error().number() == ENOENT)
      if (std::string living = find_living_thread(init.pid); !living.empty()) {
        thread = std::move(living);
        fd = open_namespace(thread, kind);
      }
    if (!fd) return std::unexpected(std::move(fd).error());
    pinned.push_back({kind, *std::move(fd)});
  }
  // If init has ended meanwhile, the pid may belong to another process, and the namespaces too.
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
