#include "runtime/init/join.hpp"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/timeline.hpp"
#include "runtime/init/namespaces.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;
using linux::PinnedNamespace;

enum class Refused { kIsAnError, kIsTriedAgain };

Result<void> join(const PinnedNamespace& pinned) {
  const linux::timeline::Call call("setns", linux::config_name(pinned.kind));
  if (::setns(pinned.fd.get(), static_cast<int>(linux::clone_flag(pinned.kind))) == 0) return {};
  return fail(errno, "join the {} namespace", linux::config_name(pinned.kind));
}

// Joins the namespaces of `left` and empties `left`. With kIsTriedAgain, a namespace stays in
// `left` if the caller has no privileges to join the namespace yet (EPERM).
Result<void> join_each(std::vector<const PinnedNamespace*>& left, Refused refused) {
  std::vector<const PinnedNamespace*> again;
  for (const PinnedNamespace* pinned : left) {
    auto joined = join(*pinned);
    if (joined) continue;
    if (joined.error().number() != EPERM || refused == Refused::kIsAnError) return joined;
    again.push_back(pinned);
  }
  left = std::move(again);
  return {};
}

const PinnedNamespace* find_kind(std::span<const PinnedNamespace> pinned, NamespaceKind kind) {
  const auto found = std::ranges::find(pinned, kind, &PinnedNamespace::kind);
  return found == pinned.end() ? nullptr : &*found;
}

}  // namespace

Result<void> join_user_namespace(std::span<const PinnedNamespace> pinned) {
  const PinnedNamespace* user = find_kind(pinned, NamespaceKind::kUser);
  return user == nullptr ? Result<void>{} : join(*user);
}

Result<void> join_namespaces(std::span<const PinnedNamespace> pinned, bool changes_user,
                             const std::function<Result<void>()>& enter_user) {
  std::vector<const PinnedNamespace*> others;
  for (const PinnedNamespace& one : pinned)
    if (one.kind != NamespaceKind::kUser && one.kind != NamespaceKind::kMount)
      others.push_back(&one);
  OCIRUN_TRY(join_each(others, changes_user ? Refused::kIsTriedAgain : Refused::kIsAnError));
  OCIRUN_TRY(enter_user());
  OCIRUN_TRY(join_each(others, Refused::kIsAnError));
  const PinnedNamespace* mount = find_kind(pinned, NamespaceKind::kMount);
  return mount == nullptr ? Result<void>{} : join(*mount);
}

namespace {

// A thread of `pid` that still has namespaces ("/proc/7/task/9"), or "" if there is no such thread.
// A main thread that has ended has no namespaces, while other threads of `pid` may live.
std::string find_living_thread(int pid) {
  const std::string tasks = fmt::format("/proc/{}/task", pid);
  const auto directory = linux::sys::open(tasks.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::string found;
  if (!directory) return found;
  ignore(linux::for_each_entry(*directory, [&](const char* name, unsigned char) {
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

// Opens each namespace of `init`.
Result<std::vector<PinnedNamespace>> pin_each(const linux::ProcessIdentity& init,
                                              std::span<const NamespaceKind> kinds) {
  std::vector<PinnedNamespace> pinned;
  std::string thread = fmt::format("/proc/{}", init.pid);
  for (const NamespaceKind kind : kinds) {
    auto fd = open_namespace(thread, kind);
    if (!fd && fd.error().number() == ENOENT)
      if (std::string living = find_living_thread(init.pid); !living.empty()) {
        thread = std::move(living);
        fd = open_namespace(thread, kind);
      }
    if (!fd) return std::unexpected(std::move(fd).error());
    pinned.push_back({kind, *std::move(fd)});
  }
  // If init has ended meanwhile, another process may have the pid, and `pinned` may hold the
  // namespaces of that process.
  OCIRUN_TRY_ASSIGN(const bool alive, linux::find_alive(init));
  if (!alive) return std::unexpected(Error(ESRCH, "container not running"));
  return pinned;
}

ContainerNamespaces not_yet_open(const linux::ProcessIdentity& init, const bundle::Config& config,
                                 std::span<const NamespaceKind> kinds) {
  ContainerNamespaces found{.init = init, .kinds = {}, .pidfd = {}, .pinned = {}};
  std::ranges::copy_if(kinds, std::back_inserter(found.kinds),
                       [&](NamespaceKind kind) { return config.namespaces.contains(kind); });
  return found;
}

// Joins the namespaces of the process behind `pidfd` with one setns(2), which joins all or none.
bool join_all(Fd pidfd, std::span<const NamespaceKind> kinds) {
  std::uint64_t flags = 0;
  for (const NamespaceKind kind : kinds) flags |= linux::clone_flag(kind);
  const linux::timeline::Call call("setns", "all");
  return ::setns(pidfd.value, static_cast<int>(flags)) == 0;
}

Result<void> enter_pinned(std::span<const PinnedNamespace> pinned, const bundle::Config& config) {
  const bool changes_user = config.namespaces.contains(NamespaceKind::kUser);
  return join_namespaces(pinned, changes_user, [&]() -> Result<void> {
    OCIRUN_TRY(join_user_namespace(pinned));
    return changes_user ? become_namespace_root(config) : Result<void>{};
  });
}

}  // namespace

Result<ContainerNamespaces> pin_container_namespaces(const linux::ProcessIdentity& init,
                                                     const bundle::Config& config,
                                                     std::span<const NamespaceKind> kinds) {
  ContainerNamespaces found = not_yet_open(init, config, kinds);
  OCIRUN_TRY_ASSIGN(found.pinned, pin_each(init, found.kinds));
  return found;
}

Result<ContainerNamespaces> find_container_namespaces(const linux::ProcessIdentity& init,
                                                      const bundle::Config& config,
                                                      std::span<const NamespaceKind> kinds) {
  ContainerNamespaces found = not_yet_open(init, config, kinds);
  // With a user namespace, one setns(2) is not enough: the caller becomes root between the user
  // namespace and the namespaces that belong to the user namespace (join_namespaces()).
  if (!config.namespaces.contains(NamespaceKind::kUser))
    found.pidfd = linux::open_pidfd(init).value_or(UniqueFd());
  if (!found.pidfd) {
    OCIRUN_TRY_ASSIGN(found.pinned, pin_each(init, found.kinds));
  }
  return found;
}

Result<void> enter_container(const ContainerNamespaces& namespaces, const bundle::Config& config) {
  if (!namespaces.pidfd) return enter_pinned(namespaces.pinned, config);
  if (join_all(namespaces.pidfd, namespaces.kinds)) return {};
  // setns(2) takes no pidfd before Linux 5.8, nor that of a process whose first thread has ended.
  // After any other error, the namespaces are joined one by one to learn which of them is refused.
  OCIRUN_TRY_ASSIGN(const auto pinned, pin_each(namespaces.init, namespaces.kinds));
  return enter_pinned(pinned, config);
}

}  // namespace ocirun::runtime
