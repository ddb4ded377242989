#include "criu/launch/restored_processes.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ranges>
#include <set>
#include <string>
#include <string_view>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kMostProcesses = 1 << 20;

// In /proc each thread has its own list of children.
Result<void> add_children(const Procfs& procfs, int pid, std::vector<int>& pids) {
  OCIRUN_TRY_ASSIGN(
      const UniqueFd tasks,
      sys::openat(procfs.fd(), fmt::format("{}/task", pid).c_str(), O_RDONLY | O_DIRECTORY));
  return for_each_entry(tasks, [&](const char* name, unsigned char) -> Result<void> {
    OCIRUN_TRY_ASSIGN(const std::string list,
                      procfs.read(fmt::format("{}/task/{}/children", pid, name)));
    for (const std::string_view word : words(list))
      if (const auto child = number<int>(word)) pids.push_back(*child);
    return {};
  });
}

// Adds all processes below those in `pids`. After an error, `pids` has the processes that were
// found.
Result<void> walk(const Procfs& procfs, std::vector<int>& pids) {
  // A list instead of a recursion, because images may hold a long chain of processes.
  Result<void> walked;
  for (std::size_t next = 0; next < pids.size(); ++next) {
    if (pids.size() > kMostProcesses) return refuse("the images hold too many processes");
    auto added = add_children(procfs, pids[next], pids);
    if (!added && walked) walked = within(std::move(added), "process {}", pids[next]);
  }
  return walked;
}

/// Two values of /proc/PID/task/TID/status.
struct Thread {
  int tracer = 0;  // 0: none
  bool is_zombie = false;
};

Thread read_thread(const Procfs& procfs, int pid, const char* thread) {
  const auto status = procfs.read(fmt::format("{}/task/{}/status", pid, thread));
  std::string_view rest = status ? std::string_view(*status) : std::string_view();
  Thread found;
  while (!rest.empty()) {
    std::string_view line = cut(rest, '\n');
    const std::string_view name = cut(line, ':');
    while (line.starts_with('\t')) line.remove_prefix(1);
    if (name == "State") found.is_zombie = line.starts_with('Z');
    if (name == "TracerPid") found.tracer = number<int>(line).value_or(0);
  }
  return found;
}
Thread read_first_thread(const Procfs& procfs, int pid) {
  return read_thread(procfs, pid, fmt::format("{}", pid).c_str());
}

// Each thread has its own tracer. Asks only the first thread, unless the first thread has ended
// before the others.
bool is_traced_by(const Procfs& procfs, int pid, int tracer) {
  const Thread first = read_first_thread(procfs, pid);
  if (!first.is_zombie) return first.tracer == tracer;
  const auto tasks =
      sys::openat(procfs.fd(), fmt::format("{}/task", pid).c_str(), O_RDONLY | O_DIRECTORY);
  if (!tasks) return false;  // the process has ended
  bool is_traced = false;
  const auto read = for_each_entry(*tasks, [&](const char* name, unsigned char) -> Result<void> {
    is_traced = is_traced || read_thread(procfs, pid, name).tracer == tracer;
    return {};
  });
  return read && is_traced;
}

// `pids` holds the tree of `init`. Adds the processes outside of the tree that have the same tracer
// as `init`.
Result<void> add_traced(const Procfs& procfs, int init, std::vector<int>& pids) {
  const int tracer = read_first_thread(procfs, init).tracer;
  if (tracer == 0) return {};
  const std::set<int> tree(pids.begin(), pids.end());
  OCIRUN_TRY_ASSIGN(const UniqueFd top, sys::openat(procfs.fd(), ".", O_RDONLY | O_DIRECTORY));
  return for_each_entry(top, [&](const char* name, unsigned char) -> Result<void> {
    const auto pid = number<int>(name);
    if (pid && !tree.contains(*pid) && is_traced_by(procfs, *pid, tracer)) pids.push_back(*pid);
    return {};
  });
}

}  // namespace

Result<std::vector<int>> restored_processes(const Procfs& procfs, int init) {
  std::vector<int> pids{init};
  OCIRUN_TRY(walk(procfs, pids));
  OCIRUN_TRY(add_traced(procfs, init, pids));
  return pids;
}

void kill_restored(const Procfs& procfs, int init) {
  if (init <= 1) return;
  std::vector<int> pids{init};
  ignore(walk(procfs, pids));
  ignore(add_traced(procfs, init, pids));
  // Children come before their parents. A stopped parent does not reap its killed children, so no
  // other process gets their pids.
  for (const int pid : std::views::reverse(pids)) ::kill(pid, SIGKILL);
}

CriuProcesses::CriuProcesses(const Procfs& procfs) : procfs_(procfs) {
  ignore(add_children(procfs, ::getpid(), spared_));
  ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

CriuProcesses::~CriuProcesses() { ::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); }

void CriuProcesses::kill() const {
  std::vector<int> pids;
  ignore(add_children(procfs_, ::getpid(), pids));
  std::erase_if(pids, [this](int pid) { return std::ranges::find(spared_, pid) != spared_.end(); });
  ignore(walk(procfs_, pids));
  // Parents come before their children: a living parent could make new processes. If a parent is
  // init of a pid namespace, the kernel kills all processes of the namespace.
  for (const int pid : pids) ::kill(pid, SIGKILL);
}

}  // namespace ocirun::linux
