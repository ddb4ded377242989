#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/container/kill.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "linux/base/patience.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::chrono::milliseconds kRemoveTime{10'000};

/// Kills the processes in one node. They need not be in the other nodes, because a container may
/// move its processes within the cgroups that it was given. Returns how many there were.
Result<std::size_t> kill_in(const Node& node) {
  TRY_ASSIGN(const std::vector<int> pids, pids_below(node.path()));
  if (contains(pids, ::getpid()))
    return refuse(
        "remove cgroup {}: this command (process {}) is in it itself: run the command from "
        "another cgroup",
        node.path(), ::getpid());
  TRY(signal_pids(node.path(), pids, SIGKILL));
  return pids.size();
}

/// Kills the processes in `some` of the nodes once. Returns the greatest number found in one node,
/// because each process is in every hierarchy.
Result<std::size_t> kill_round(int round, std::span<const Node* const> some,
                               std::span<const Node> nodes) {
  std::size_t processes = 0;
  for (const Node* node : some) {
    TRY_ASSIGN(const std::size_t killed, kill_in(*node));
    processes = std::max(processes, killed);
    // v1 kills processes one by one: a fork bomb that survives two rounds is stopped by pids.max.
    if (round == 2 && node->has("pids"))
      if (const Result<const Directory*> directory = node->directory())
        static_cast<void>((*directory)->write("pids.max", "0"));
  }
  // Kills all at once where the kernel can (cgroup.kill), and thaws: v1 does not let frozen
  // processes die.
  if (processes > 0) TRY(signal_processes(nodes, SIGKILL));
  return processes;
}

std::unexpected<Error> undying(std::string_view step, const Node& node, std::size_t processes) {
  return fail(EBUSY, "{} cgroup {}: {} of its processes do not die (waiting for the kernel?)", step,
              node.path(), processes);
}

/// True when the node and all nested cgroups are removed.
Result<bool> remove_tree(const Node& node) {
  bool busy = false;
  TRY(walk(node.path(), [&](const WalkEntry& entry) -> Result<void> {
    const Result<void> removed = remove_entry(entry);
    if (!removed && removed.error().number() != EBUSY) return removed;
    busy = busy || !removed;
    return {};
  }));
  return !busy;
}

}  // namespace

Result<void> remove_nodes(std::span<const Node> nodes) {
  // The usual case: the container has exited, and its cgroups are empty. So they are not searched
  // first.
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
    TRY_ASSIGN(const std::size_t processes, kill_round(round, left, nodes));
    std::vector<const Node*> still;
    for (const Node* node : left) {
      TRY_ASSIGN(const bool gone, remove_tree(*node));
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
    TRY_ASSIGN(const std::size_t processes, kill_round(round, all, nodes));
    if (processes == 0) return {};
    if (!patience.wait()) return undying("empty", *all.front(), processes);
  }
}

}  // namespace ocirun::cgroups
