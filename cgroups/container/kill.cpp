#include "cgroups/container/kill.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/container/freezer.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "linux/base/patience.hpp"
#include "linux/process/pidfd.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::chrono::milliseconds kFreezeToSignal{1000};
constexpr int kKillRounds = 100;

/// Kills all processes, also forking processes, by one write to cgroup.kill (since Linux 5.14).
/// Returns false if the kernel has no such file, or the cgroup is threaded.
Result<bool> kill_by_file(const Node& node) {
  if (!node.unified()) return false;
  OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
  const Result<void> killed = directory->write("cgroup.kill", "1");
  if (killed) return true;
  if (killed.error().number() == ENOENT || killed.error().number() == EOPNOTSUPP) return false;
  return std::unexpected(killed.error());
}

Result<void> signal_once(const Node& node, int signal) {
  OCIRUN_TRY_ASSIGN(std::vector<int> pids, pids_below(node.path()));
  return signal_pids(node.path(), std::move(pids), signal);
}

Result<void> kill_all(std::span<const Node> nodes, const Node& primary, bool may_freeze) {
  bool killed = false;
  if (may_freeze) {  // otherwise, the caller is in the cgroup and would die too
    OCIRUN_TRY_ASSIGN(killed, kill_by_file(primary));
  }
  if (killed) return thaw_all(nodes);
  if (may_freeze)
    // While the cgroup is frozen, no process forks and no pid is reused. If freezing fails, the
    // processes are killed nevertheless.
    ignore(set_freezer(nodes, FreezerState::kFrozen, kFreezeToSignal));
  std::vector<int> seen;
  for (int round = 0; round < kKillRounds; ++round) {
    OCIRUN_TRY_ASSIGN(std::vector<int> pids, pids_below(primary.path()));
    OCIRUN_TRY(signal_pids(primary.path(), pids, SIGKILL));
    if (std::ranges::includes(seen, pids)) break;  // no process is new
    seen = std::move(pids);
  }
  return thaw_all(nodes);
}

}  // namespace

Result<std::vector<int>> listed_below(const std::string& path) {
  std::vector<int> pids;
  OCIRUN_TRY(walk(path, [&](const WalkEntry& entry) -> Result<void> {
    const Result<std::string> text = read_in(entry, "cgroup.procs");
    if (!text) {
      // The cgroup has vanished or is threaded. The domain of a threaded cgroup lists the processes
      // in its own cgroup.procs.
      const int number = text.error().number();
      if (number == ENOENT || number == ENODEV || number == EOPNOTSUPP) return {};
      return std::unexpected(text.error());
    }
    for (const std::string_view line : words(*text, '\n'))
      if (const auto pid = number(line)) pids.push_back(static_cast<int>(*pid));
    return {};
  }));
  std::ranges::sort(pids);
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

Result<std::vector<int>> pids_below(const std::string& path) {
  auto pids = listed_below(path);
  if (pids) std::erase(*pids, 0);
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
  OCIRUN_TRY_ASSIGN(const std::vector<int> before, pids_below(primary.path()));
  if (before.empty()) return {};
  const bool caller_inside = contains(before, ::getpid());
  if (signal == SIGKILL) return kill_all(nodes, primary, !caller_inside);

  OCIRUN_TRY_ASSIGN(const FreezerState state, read_freezer(nodes));
  const bool freeze = state == FreezerState::kThawed && !caller_inside;
  // While the cgroup is frozen, no process forks. If freezing fails, the signal is sent
  // nevertheless.
  if (freeze) ignore(set_freezer(nodes, FreezerState::kFrozen, kFreezeToSignal));
  Result<void> signalled = signal_once(primary, signal);
  if (!freeze) return signalled;
  Result<void> thawed = set_freezer(nodes, FreezerState::kThawed, kFreezeToSignal);
  return signalled ? thawed : signalled;
}

namespace {

constexpr std::chrono::milliseconds kRemoveTime{10'000};

/// Kills the processes in one node and returns the number of processes. Another node may lack these
/// processes, because a container may move processes between the cgroups of one hierarchy.
Result<std::size_t> kill_in(const Node& node) {
  OCIRUN_TRY_ASSIGN(const std::vector<int> pids, pids_below(node.path()));
  if (contains(pids, ::getpid()))
    return refuse(
        "remove cgroup {}: this command (process {}) is in it itself: run the command from "
        "another cgroup",
        node.path(), ::getpid());
  OCIRUN_TRY(signal_pids(node.path(), pids, SIGKILL));
  return pids.size();
}

/// Kills the processes in the nodes `some` once. Returns the greatest number of processes in one
/// node: a sum would count each process once for each hierarchy.
Result<std::size_t> kill_round(int round, std::span<const Node* const> some,
                               std::span<const Node> nodes) {
  std::size_t processes = 0;
  for (const Node* node : some) {
    OCIRUN_TRY_ASSIGN(const std::size_t killed, kill_in(*node));
    processes = std::max(processes, killed);
    // On cgroup v1, processes are killed one by one. After two rounds, pids.max stops a fork bomb.
    if (round == 2 && node->has("pids"))
      if (const Result<const Directory*> directory = node->directory())
        ignore((*directory)->write("pids.max", "0"));
  }
  // signal_processes() uses cgroup.kill if the kernel has the file. signal_processes() also thaws:
  // on cgroup v1, a frozen process does not die.
  if (processes > 0) OCIRUN_TRY(signal_processes(nodes, SIGKILL));
  return processes;
}

std::unexpected<Error> undying(std::string_view step, const Node& node, std::size_t processes) {
  return fail(EBUSY, "{} cgroup {}: {} of its processes do not die (waiting for the kernel?)", step,
              node.path(), processes);
}

/// Removes the node and all nested cgroups. Returns false if a cgroup is busy.
Result<bool> remove_tree(const Node& node) {
  bool busy = false;
  OCIRUN_TRY(walk(node.path(), [&](const WalkEntry& entry) -> Result<void> {
    const Result<void> removed = remove_entry(entry);
    if (!removed && removed.error().number() != EBUSY) return removed;
    busy = busy || !removed;
    return {};
  }));
  return !busy;
}

}  // namespace

Result<void> remove_nodes(std::span<const Node> nodes) {
  // Usually, the container has exited and the cgroups are empty: so remove_nodes() first tries to
  // remove the cgroups without a search for processes.
  std::vector<const Node*> left;
  for (const Node& node : nodes) {
    const Result<void> removed = remove_directory(node.path());
    if (removed) continue;
    if (removed.error().number() != EBUSY) return removed;
    left.push_back(&node);
  }
  if (left.empty()) return {};

  linux::Patience patience(kRemoveTime);
  for (int round = 0;; ++round) {
    OCIRUN_TRY_ASSIGN(const std::size_t processes, kill_round(round, left, nodes));
    std::vector<const Node*> still;
    for (const Node* node : left) {
      OCIRUN_TRY_ASSIGN(const bool gone, remove_tree(*node));
      if (!gone) still.push_back(node);
    }
    left = std::move(still);
    if (left.empty()) return {};
    if (!patience.wait()) return undying("remove", *left.front(), processes);
  }
}

Result<void> empty_nodes(std::span<const Node> nodes) {
  std::vector<const Node*> all;
  for (const Node& node : nodes) all.push_back(&node);

  linux::Patience patience(kRemoveTime);
  for (int round = 0;; ++round) {
    OCIRUN_TRY_ASSIGN(const std::size_t processes, kill_round(round, all, nodes));
    if (processes == 0) return {};
    if (!patience.wait()) return undying("empty", *all.front(), processes);
  }
}

}  // namespace ocirun::cgroups
