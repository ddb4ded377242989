#include "cgroups/container/freezer.hpp"

#include <cerrno>

#include "linux/base/patience.hpp"

namespace ocirun::cgroups {
namespace {

constexpr const char* kV1State = "freezer.state";
constexpr const char* kUnifiedState = "cgroup.freeze";  // since Linux 5.2

bool v1_says_frozen(const Directory& directory) {
  const std::string state = directory.read_or_empty(kV1State);
  return state == "FROZEN" || state == "FREEZING";
}

bool events_say_frozen(const Directory& directory) {
  return directory.read_or_empty("cgroup.events").contains("frozen 1");
}

std::unexpected<Error> not_stopped(const Directory& directory, std::chrono::milliseconds limit) {
  return refuse("freeze {}: a process in it has not stopped for {} s", directory.path(),
                limit.count() / 1000);
}

Result<void> freeze_v1(const Directory& directory, std::chrono::milliseconds limit) {
  OCIRUN_TRY(directory.write(kV1State, "FROZEN"));
  linux::Patience patience(limit);
  for (int round = 1; directory.read_or_empty(kV1State) != "FROZEN"; ++round) {
    if (!patience.wait()) {
      ignore(directory.write(kV1State, "THAWED"));
      return not_stopped(directory, limit);
    }
    // A write asks each task once to freeze. A second write freezes a task that the first write
    // missed (fork, vfork). A task that waits for a frozen task freezes only after a short thaw.
    if (round % 16 == 0) OCIRUN_TRY(directory.write(kV1State, "THAWED"));
    OCIRUN_TRY(directory.write(kV1State, "FROZEN"));
  }
  return {};
}

Result<void> freeze_unified(const Directory& directory, std::chrono::milliseconds limit) {
  OCIRUN_TRY(directory.write(kUnifiedState, "1"));
  linux::Patience patience(limit);
  while (!events_say_frozen(directory))
    if (!patience.wait()) {
      ignore(directory.write(kUnifiedState, "0"));
      return not_stopped(directory, limit);
    }
  return {};
}

Result<void> thaw(const Node& node, std::chrono::milliseconds limit) {
  if (!is_frozen(node)) return {};
  OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
  OCIRUN_TRY(node.unified() ? directory->write(kUnifiedState, "0")
                            : directory->write(kV1State, "THAWED"));
  // On cgroup v1, the cgroup is thawed when write(2) returns. In both versions, the cgroup stays
  // frozen while an ancestor is frozen.
  linux::Patience patience(node.unified() ? limit : std::chrono::milliseconds(0));
  while (is_frozen(node))
    if (!patience.wait())
      return refuse("thaw {}: a cgroup above it is frozen: thaw that one first", node.path());
  return {};
}

}  // namespace

bool is_frozen(const Node& node) {
  const Result<const Directory*> directory = node.directory();
  if (!directory) return false;
  if (node.unified())
    return (*directory)->read_or_empty(kUnifiedState) == "1" || events_say_frozen(**directory);
  return node.has("freezer") && v1_says_frozen(**directory);
}

// v1: the parent's file says the same, and is cheaper (see Made). Unified: cgroup.freeze of the new
// cgroup is 0; only its cgroup.events tells of a frozen ancestor.
bool is_frozen_from_the_start(const Node& node) {
  if (node.unified()) {
    const Result<const Directory*> directory = node.directory();
    return directory && events_say_frozen(**directory);
  }
  if (!node.has("freezer")) return false;
  const Result<Directory> parent = Directory::open(parent_of(node.path()));
  return parent && v1_says_frozen(*parent);
}

Result<void> set_freezer(std::span<const Node> nodes, FreezerState state,
                         std::chrono::milliseconds limit) {
  const Node* v1 = find_v1(nodes, "freezer");
  const Node* unified = find_unified(nodes);
  if (v1 == nullptr && unified == nullptr)
    return refuse("this host has neither the freezer controller (v1) nor the unified hierarchy");
  if (state == FreezerState::kThawed) {
    if (v1 != nullptr) OCIRUN_TRY(thaw(*v1, limit));
    if (unified != nullptr) OCIRUN_TRY(thaw(*unified, limit));
    return {};
  }
  OCIRUN_TRY_ASSIGN(const Directory* directory, (v1 != nullptr ? v1 : unified)->directory());
  return v1 != nullptr ? freeze_v1(*directory, limit) : freeze_unified(*directory, limit);
}

Result<FreezerState> read_freezer(std::span<const Node> nodes) {
  for (const Node* node : {find_v1(nodes, "freezer"), find_unified(nodes)})
    if (node != nullptr) {
      OCIRUN_TRY(node->directory());
      if (is_frozen(*node)) return FreezerState::kFrozen;
    }
  return FreezerState::kThawed;
}

Result<void> thaw_all(std::span<const Node> nodes) {
  const Node* v1 = find_v1(nodes, "freezer");
  if (v1 == nullptr) return {};  // on cgroup v2, SIGKILL also ends a frozen process
  return walk(v1->path(), [](const WalkEntry& entry) -> Result<void> {
    const Result<void> thawed = write_in(entry, kV1State, "THAWED");
    if (!thawed && thawed.error().number() != ENOENT && thawed.error().number() != ENODEV)
      return thawed;
    return {};
  });
}

}  // namespace ocirun::cgroups
