#include "runtime/parent/exit_watcher.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include "bundle/documents/life.hpp"
#include "linux/base/memory_reserve.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::chrono::hours kLongWait{1};

/// The status of init, which has ended. Waits until its parent has asked for the status, or the
/// container is deleted. Nothing: deleted, or a kernel before Linux 6.15.
std::optional<int> await_status(const linux::ProcessEnd& end, const StateDirectory& directory,
                                const linux::ProcessIdentity& init) {
  while (directory.exists()) {
    const auto now = linux::identify_process(init.pid);
    const bool is_zombie = now && *now == init;
    if (const auto status = end.status()) return status;
    if (!is_zombie) break;
  }
  return std::nullopt;
}

/// Takes the lock, however long other commands hold it. False: the container was deleted.
bool lock_living(const StateDirectory& directory) {
  while (directory.exists())
    if (directory.lock(kLockPatience)) return directory.exists();
  return false;
}

Result<void> watch(const StateDirectory& directory, const bundle::ContainerRecord& record,
                   const linux::ProcessEnd& end) {
  OCIRUN_TRY_ASSIGN(const auto cgroup, cgroup_of(record));
  const std::uint64_t kills_before = cgroup->oom_kills();
  while (!end.comes_within(kLongWait)) continue;
  const std::string finished = linux::rfc3339_now(9);
  const bool oom_killed = cgroup->oom_kills() > kills_before;
  const auto status = await_status(end, directory, record.init());
  if (!lock_living(directory)) return {};
  OCIRUN_TRY_ASSIGN(bundle::LifeRecord life, bundle::read_life(directory.descriptor()));
  life.finished = finished;
  if (status && WIFEXITED(*status))
    life.exit_status = static_cast<std::uint64_t>(WEXITSTATUS(*status));
  if (status && WIFSIGNALED(*status))
    life.exit_signal = static_cast<std::uint64_t>(WTERMSIG(*status));
  // Another process of the container may have been the victim.
  life.oom_killed = oom_killed && (!status || life.exit_signal == std::uint64_t{SIGKILL});
  return bundle::write_life(directory.descriptor(), life);
}

/// Leaves the caller's session, directory, descriptors and signal mask.
Result<void> leave_caller(std::span<const Fd> kept) {
  ::setsid();
  ::prctl(PR_SET_NAME, "ocirun:watch");
  ::prctl(PR_SET_DUMPABLE, 0);
  OCIRUN_TRY(linux::sys::chdir("/"));
  OCIRUN_TRY_ASSIGN(const UniqueFd null,
                    linux::sys::open(linux::dev_path("null").string().c_str(), O_RDWR));
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::dup2(null.get(), stream) < 0) return fail(errno, "leave the caller's streams");
  linux::close_descriptors_but(kept);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  return {};
}

}  // namespace

Result<bool> records_exit(const std::map<std::string, std::string>& annotations) {
  const auto found = annotations.find(bundle::kRecordExit);
  if (found == annotations.end() || found->second == "false") return false;
  if (found->second == "true") return true;
  return refuse("/annotations/{}: {:?}: must be \"true\" or \"false\"", bundle::kRecordExit,
                found->second);
}

Result<void> spawn_exit_watcher(const StateDirectory& directory,
                                const bundle::ContainerRecord& record) {
  // The lock belongs to the open file, so the process needs a file of its own.
  OCIRUN_TRY_ASSIGN(UniqueFd own, linux::sys::openat(directory.descriptor(), ".",
                                                     O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  OCIRUN_TRY_ASSIGN(const linux::ProcessEnd end, linux::ProcessEnd::watch(record.init()));
  OCIRUN_TRY_ASSIGN(const linux::Child child,
                    linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid != 0) return {};
  const std::array kept{Fd(own), Fd{end.wanted().fd}};
  const StateDirectory watched(directory.path(), std::move(own));
  ignore(linux::within_memory([&]() -> Result<void> {
    OCIRUN_TRY(leave_caller(kept));
    return watch(watched, record, end);
  }));
  ::_exit(0);
}

Result<void> record_start(const StateDirectory& directory, const bundle::ContainerRecord& record) {
  OCIRUN_TRY_ASSIGN(const bool is_recorded, records_exit(record.annotations));
  if (!is_recorded) return {};
  OCIRUN_TRY_ASSIGN(bundle::LifeRecord life, bundle::read_life(directory.descriptor()));
  life.started = linux::rfc3339_now(9);
  return bundle::write_life(directory.descriptor(), life);
}

}  // namespace ocirun::runtime
