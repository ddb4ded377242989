#include "runtime/commands/processes.hpp"

#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kRounds = 10;

/// The name of the pid namespace, "pid:[4026531836]". "" if the caller may not inspect the process.
std::string pid_namespace_of(Fd proc, int pid) {
  return linux::sys::readlinkat(proc, fmt::format("{}/ns/pid", pid).c_str()).value_or("");
}

}  // namespace

std::vector<linux::ProcessIdentity> select_processes(std::vector<ProcessEntry> all, int init) {
  std::vector<linux::ProcessIdentity> chosen;
  const auto is_ours = [&](const ProcessEntry& one) {
    return one.process.pid == init || one.in_container ||
           std::ranges::find(chosen, one.parent, &linux::ProcessIdentity::pid) != chosen.end();
  };
  // Each round finds the children of the processes that the round before has found.
  for (std::size_t before = all.size() + 1; all.size() < before;) {
    before = all.size();
    std::erase_if(all, [&](const ProcessEntry& one) {
      if (!is_ours(one)) return false;
      chosen.push_back(one.process);
      return true;
    });
  }
  std::ranges::sort(chosen, {}, &linux::ProcessIdentity::pid);
  return chosen;
}

Result<std::vector<linux::ProcessIdentity>> find_processes(int init, bool own_pid_namespace) {
  OCIRUN_TRY_ASSIGN(const UniqueFd proc, linux::sys::open("/proc", O_RDONLY | O_DIRECTORY));
  const std::string inside = own_pid_namespace ? pid_namespace_of(proc, init) : "";
  std::vector<ProcessEntry> all;
  OCIRUN_TRY(linux::for_each_entry(proc, [&](const char* name, unsigned char) -> Result<void> {
    const auto pid = linux::number<int>(name);
    if (!pid) return {};
    const auto stat = linux::read_process_stat(*pid);
    if (!stat || stat->state == 'Z' || stat->state == 'X') return {};
    all.push_back({.process = {*pid, stat->start_time},
                   .parent = stat->parent,
                   .in_container = !inside.empty() && pid_namespace_of(proc, *pid) == inside});
    return {};
  }));
  return select_processes(std::move(all), init);
}

Result<void> signal_without_cgroup(const linux::ProcessIdentity& init, bool own_pid_namespace,
                                   int signal) {
  std::vector<int> done{init.pid};
  for (int round = 0; round < kRounds; ++round) {
    OCIRUN_TRY_ASSIGN(const std::vector<linux::ProcessIdentity> processes,
                      find_processes(init.pid, own_pid_namespace));
    if (!linux::is_alive(init)) break;  // another process may have the pid now
    bool any_new = false;
    for (const linux::ProcessIdentity& process : processes) {
      if (std::ranges::find(done, process.pid) != done.end()) continue;
      // The process may have ended already.
      ignore(linux::send_signal(process, signal));
      done.push_back(process.pid);
      any_new = true;
    }
    if (!any_new || signal != SIGKILL) break;
  }
  return {};
}

}  // namespace ocirun::runtime
