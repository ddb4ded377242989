#include "cgroups/container/kill.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/container/freezer.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::chrono::milliseconds kFreezeToSignal{1000};
constexpr int kKillRounds = 100;

/// Kills all processes by one write to cgroup.kill (Linux 5.14), forks in flight included. False:
/// the kernel has no such file.
Result<bool> kill_by_file(const Node& node) {
  if (!node.unified()) return false;
  TRY_ASSIGN(const Directory* directory, node.directory());
  const Result<void> killed = directory->write("cgroup.kill", "1");
  if (killed) return true;
  if (killed.error().number() == ENOENT || killed.error().number() == EOPNOTSUPP) return false;
  return std::unexpected(killed.error());
}

Result<void> signal_once(const Node& node, int signal) {
  TRY_ASSIGN(std::vector<int> pids, pids_below(node.path()));
  return signal_pids(node.path(), std::move(pids), signal);
}

Result<void> kill_all(std::span<const Node> nodes, const Node& primary, bool may_freeze) {
  bool killed = false;
  if (may_freeze) {  // else the caller is in the cgroup and would die too
    TRY_ASSIGN(killed, kill_by_file(primary));
  }
  if (killed) return thaw_all(nodes);
  if (may_freeze)
    // While the cgroup is frozen, no process forks and no pid is reused. Freezing may fail; killing
    // goes on without it.
    static_cast<void>(set_freezer(nodes, FreezerState::kFrozen, kFreezeToSignal));
  std::vector<int> seen;
  for (int round = 0; round < kKillRounds; ++round) {
    TRY_ASSIGN(std::vector<int> pids, pids_below(primary.path()));
    TRY(signal_pids(primary.path(), pids, SIGKILL));
    if (std::ranges::includes(seen, pids)) break;  // no process is new
    seen = std::move(pids);
  }
  return thaw_all(nodes);
}

}  // namespace

Result<std::vector<int>> pids_below(const std::string& path) {
  std::vector<int> pids;
  TRY(walk(path, [&](const WalkEntry& entry) -> Result<void> {
    const Result<std::string> text = read_in(entry, "cgroup.procs");
    if (!text) {
      // The cgroup has vanished, or is threaded: then its processes are listed in its domain.
      const int number = text.error().number();
      if (number == ENOENT || number == ENODEV || number == EOPNOTSUPP) return {};
      return std::unexpected(text.error());
    }
    for (const std::string_view line : words(*text, '\n'))
      if (const auto pid = number(line); pid && *pid > 0) pids.push_back(static_cast<int>(*pid));
    return {};
  }));
  std::ranges::sort(pids);
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

Result<void> signal_pids(const std::string& path, std::vector<int> pids, int signal) {
  std::erase(pids, ::getpid());
  return linux::signal_listed(pids, signal, [&] { return pids_below(path); });
}

const Node& primary_node(std::span<const Node> nodes) {
  if (const Node* unified = find_unified(nodes)) return *unified;
  const Node* freezer = find_v1(nodes, "freezer");
  return freezer != nullptr ? *freezer : nodes.front();
}

Result<void> signal_processes(std::span<const Node> nodes, int signal) {
  const Node& primary = primary_node(nodes);
  TRY_ASSIGN(const std::vector<int> before, pids_below(primary.path()));
  if (before.empty()) return {};
  const bool caller_inside = contains(before, ::getpid());
  if (signal == SIGKILL) return kill_all(nodes, primary, !caller_inside);

  TRY_ASSIGN(const FreezerState state, read_freezer(nodes));
  const bool freeze = state == FreezerState::kThawed && !caller_inside;
  // While the cgroup is frozen, no process forks. Freezing may fail; signalling goes on without it.
  if (freeze) static_cast<void>(set_freezer(nodes, FreezerState::kFrozen, kFreezeToSignal));
  Result<void> signalled = signal_once(primary, signal);
  if (!freeze) return signalled;
  Result<void> thawed = set_freezer(nodes, FreezerState::kThawed, kFreezeToSignal);
  return signalled ? thawed : signalled;
}

}  // namespace ocirun::cgroups
