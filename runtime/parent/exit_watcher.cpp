#include "runtime/parent/exit_watcher.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <utility>

#include "bundle/config/annotations.hpp"
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
  constexpr unsigned kPause = 1;  // seconds
  while (directory.exists()) {
    const auto now = linux::identify_process(init.pid);
    const bool is_zombie = now && *now == init;
    if (const auto status = end.status()) return status;
    if (!is_zombie) break;
    ::sleep(kPause);
  }
  return std::nullopt;
}

/// Takes the lock, however long other commands hold it. False: the container was deleted.
bool lock_living(const StateDirectory& directory) {
  while (directory.exists()) {
    if (directory.lock(kLockPatience)) return directory.exists();
    ::sleep(1);
  }
  return false;
}

/// Does nothing if the container was deleted.
Result<void> change_life(const StateDirectory& directory,
                         const std::function<void(bundle::LifeRecord&)>& change) {
  if (!lock_living(directory)) return {};
  auto life = bundle::read_life(directory.descriptor());
  if (life) change(*life);
  auto written = life ? bundle::write_life(directory.descriptor(), *life)
                      : Result<void>(std::unexpected(life.error()));
  directory.unlock();
  return written;
}

Result<void> watch(const StateDirectory& directory, const bundle::ContainerRecord& record,
                   const linux::ProcessEnd& end) {
  const auto cgroup = cgroup_of(record);
  const auto kills_before = cgroup ? (*cgroup)->oom_kills() : std::nullopt;
  while (!end.comes_within(kLongWait)) continue;
  const std::string finished = linux::rfc3339_now(9);
  const auto kills = cgroup ? (*cgroup)->oom_kills() : std::nullopt;
  const bool can_tell = kills_before && kills;
  const bool some_killed = can_tell && *kills > *kills_before;
  // The parent may ask late for the status, or never.
  OCIRUN_TRY(change_life(directory, [&](bundle::LifeRecord& life) {
    life.finished = finished;
    if (can_tell && !some_killed) life.oom_killed = false;
  }));
  const auto status = await_status(end, directory, record.init());
  if (!status) return {};
  return change_life(directory, [&](bundle::LifeRecord& life) {
    if (WIFEXITED(*status)) life.exit_status = static_cast<std::uint64_t>(WEXITSTATUS(*status));
    if (WIFSIGNALED(*status)) life.exit_signal = static_cast<std::uint64_t>(WTERMSIG(*status));
    // Another process of the container may have been the victim.
    if (can_tell) life.oom_killed = some_killed && life.exit_signal == std::uint64_t{SIGKILL};
  });
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
  linux::reset_signals();
  return {};
}

}  // namespace

Result<void> spawn_exit_watcher(const StateDirectory& directory,
                                const bundle::ContainerRecord& record) {
  OCIRUN_TRY_ASSIGN(const bool is_recorded,
                    bundle::is_true(record.annotations, bundle::kRecordExit));
  if (!is_recorded) return {};
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

Result<void> record_start(const StateDirectory& directory, const bundle::ContainerRecord& record,
                          const std::string& time) {
  OCIRUN_TRY_ASSIGN(const bool is_recorded,
                    bundle::is_true(record.annotations, bundle::kRecordExit));
  if (!is_recorded) return {};
  OCIRUN_TRY_ASSIGN(bundle::LifeRecord life, bundle::read_life(directory.descriptor()));
  life.started = time;
  return bundle::write_life(directory.descriptor(), life);
}

}  // namespace ocirun::runtime
