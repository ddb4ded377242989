#include "runtime/checkpoint/process_tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <ranges>
#include <string>

#include "linux/base/directory_entries.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::size_t kMostProcesses = 1 << 20;

// Each thread has a list of the children that it made.
Result<void> add_children(const linux::Procfs& procfs, int pid, std::vector<int>& pids) {
  TRY_ASSIGN(
      const UniqueFd tasks,
      linux::sys::openat(procfs.fd(), fmt::format("{}/task", pid).c_str(), O_RDONLY | O_DIRECTORY));
  return linux::for_each_entry(tasks, [&](const char* name, unsigned char) -> Result<void> {
    TRY_ASSIGN(const std::string list, procfs.read(fmt::format("{}/task/{}/children", pid, name)));
    for (const std::string_view word : linux::words(list))
      if (const auto child = linux::number<int>(word)) pids.push_back(*child);
    return {};
  });
}

// Adds to `pids`, which holds init, all processes below. On an error, `pids` has those found.
Result<void> walk(const linux::Procfs& procfs, std::vector<int>& pids) {
  // A list instead of a recursion, because images may hold a long chain of processes.
  Result<void> walked;
  for (std::size_t next = 0; next < pids.size(); ++next) {
    if (pids.size() > kMostProcesses) return refuse("the images hold too many processes");
    auto added = add_children(procfs, pids[next], pids);
    if (!added && walked) walked = within(std::move(added), fmt::format("process {}", pids[next]));
  }
  return walked;
}

}  // namespace

Result<std::vector<int>> processes_of(const linux::Procfs& procfs, int init) {
  std::vector<int> pids{init};
  TRY(walk(procfs, pids));
  return pids;
}

void kill_all_below_this_process(const linux::Procfs& procfs) {
  std::vector<int> pids{::getpid()};
  [[maybe_unused]] const auto walked = walk(procfs, pids);
  // A parent first: it is init of a pid namespace, or would make other processes.
  for (const int pid : pids | std::views::drop(1)) ::kill(pid, SIGKILL);
}

void kill_processes_of(const linux::Procfs& procfs, int init) {
  if (init <= 1) return;
  std::vector<int> pids{init};
  [[maybe_unused]] const auto walked = walk(procfs, pids);
  // A stopped parent reaps nobody: the pids of its killed children stay theirs.
  for (const int pid : std::views::reverse(pids)) ::kill(pid, SIGKILL);
}

}  // namespace ocirun::runtime
