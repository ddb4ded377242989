#include "cgroups/container/host_cgroup.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/container/apply.hpp"
#include "cgroups/container/devices_bpf.hpp"
#include "cgroups/container/explain.hpp"
#include "cgroups/container/freezer.hpp"
#include "cgroups/container/join.hpp"
#include "cgroups/container/kill.hpp"
#include "cgroups/container/record.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "cgroups/plan/device_rules.hpp"
#include "cgroups/statistics/read.hpp"
#include "cgroups/statistics/stats.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::chrono::milliseconds kFreezeTime{10'000};

std::string name_process(int pid) {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  auto name = procfs ? procfs->read(fmt::format("{}/comm", pid)) : Result<std::string>();
  if (!name || name->empty()) return fmt::format("process {}", pid);
  name->pop_back();  // remove the newline
  return fmt::format("process {} ({})", pid, *name);
}

/// Returns a text such as "process 12 (sleep) and 3 more". Pid 0: see listed_below().
std::string describe(const std::vector<int>& pids) {
  const int first = *std::ranges::max_element(pids);
  std::string text = first == 0 ? "a process of another pid namespace" : name_process(first);
  if (pids.size() > 1) text += fmt::format(" and {} more", pids.size() - 1);
  return text;
}

/// an existing cgroup must be empty, and must not be frozen: a process that joins a frozen
/// cgroup stops until a thaw.
Result<void> check_fit(const Node& node, Made made, int expected) {
  if (made == Made::kNew ? is_frozen_from_the_start(node) : is_frozen(node))
    return refuse("container's cgroup unexpectedly frozen");
  if (node.unified()) OCIRUN_TRY(check_domain(node, made));
  if (made == Made::kNew) return {};
  OCIRUN_TRY_ASSIGN(std::vector<int> pids, listed_below(node.path()));
  if (expected != 0) std::erase(pids, expected);
  if (!pids.empty())
    return refuse(
        "container's cgroup is not empty: {} in {}, as of a container with the same "
        "/linux/cgroupsPath, or with the same id below another --root: choose another id or "
        "cgroupsPath, or "
        "--cgroup-manager=disabled for no cgroup",
        describe(pids), node.path());
  return {};
}

}  // namespace

HostCgroup::HostCgroup(Record record) : record_(std::move(record)), nodes_(nodes_of(record_)) {}

Host HostCgroup::host() const {
  const Node* v2 = find_unified(nodes_);
  return {.home =
              [this, controllers = v2 ? unified_controllers(v2->mount_point())
                                      : std::vector<std::string>()](std::string_view name) {
                if (find_v1(nodes_, name) != nullptr) return Home::kV1;
                return contains(controllers, name) ? Home::kUnified : Home::kNowhere;
              },
          .has_v1 = std::ranges::any_of(nodes_, [](const Node& n) { return !n.unified(); }),
          .has_unified = v2 != nullptr,
          .current =
              [v2](const std::string& file) {
                if (v2 == nullptr) return std::string();
                const Result<const Directory*> directory = v2->directory();
                return directory ? (*directory)->read_or_empty(file) : "";
              }};
}

// Whether the existing cgroup is left over from an ended container. create_node() makes such a
// cgroup anew: it still has the limits of the ended container, and after a write to cgroup.kill,
// some kernels also kill the processes that are cloned into the cgroup later.
bool HostCgroup::is_left_over() {
  if (!is_left_over_) is_left_over_ = !read_mark(record_).value_or(Mark{}).text.empty();
  return *is_left_over_;
}

Result<Made> HostCgroup::create_node(const Node& node) {
  OCIRUN_TRY_ASSIGN(Made made, make_node(node, record_.created_parents));
  const auto prepare = [&]() -> Result<void> {
    OCIRUN_TRY(check_fit(node, made, expected_));
    if (made == Made::kExisted && expected_ == 0 && is_left_over()) {
      OCIRUN_TRY(
          walk(node.path(), remove_entry));  // EBUSY: a process has joined the cgroup meanwhile
      OCIRUN_TRY_ASSIGN(made, make_node(node, record_.created_parents));
    }
    if (node.has("cpuset")) OCIRUN_TRY(inherit_cpuset(node, made));
    return {};
  };
  if (Result<void> prepared = prepare(); !prepared) {
    if (made == Made::kNew) ignore(remove_directory(node.path()));
    return std::unexpected(std::move(prepared).error());
  }
  return made;
}

Result<void> HostCgroup::check_free() const {
  for (const Node& node : nodes_)
    if (linux::sys::open(node.path().c_str(), O_PATH | O_DIRECTORY))
      OCIRUN_TRY(check_fit(node, Made::kExisted, expected_));
  return {};
}

Result<void> HostCgroup::create(std::span<const DeviceRule> devices) {
  std::vector<const Node*> ours;  // the nodes that create() made: removed after an error
  const auto create_all = [&]() -> Result<void> {
    for (const Node& node : nodes_) {
      OCIRUN_TRY_ASSIGN(const Made made, create_node(node));
      if (made == Made::kNew) ours.push_back(&node);
    }
    // On a hybrid host, controllers of the unified hierarchy are enabled only when a limit needs
    // them.
    if (record_.directories.size() == 1 && nodes_.front().unified()) {
      // A controller that cannot be enabled is an error only when a limit needs the controller.
      ignore(enable_controllers(nodes_.front(), unified_controllers(nodes_.front().mount_point()),
                                record_.handed_down));
    }
    return restrict_devices(devices);
  };
  Result<void> created = create_all();
  not_ours_ = !created;
  if (created) {
    if (!is_below_own_parent()) std::ranges::for_each(record_.created_parents, note_as_made);
    return created;
  }
  for (const Node* node : ours) ignore(remove_directory(node->path()));
  remove_parents();
  take_back(record_.handed_down);
  return created;
}

Result<void> HostCgroup::restrict_devices(std::span<const DeviceRule> devices) {
  Result<void> done = write_device_rules(devices);
  const bool refused = !done && (done.error().number() == EPERM || done.error().number() == EACCES);
  return refused && refused_devices_ ? refused_devices_(done.error()) : done;
}

Result<void> HostCgroup::write_device_rules(std::span<const DeviceRule> devices) {
  if (find_v1(nodes_, "devices") != nullptr) {
    OCIRUN_TRY_ASSIGN(const std::vector<Write> writes, plan_device_rules_v1(devices));
    return apply_writes(nodes_, writes, record_.handed_down);
  }
  const Node* v2 = find_unified(nodes_);
  if (v2 == nullptr)
    return refuse(
        "/linux/resources/devices: this host has neither the devices controller (v1) nor the "
        "unified hierarchy");
  OCIRUN_TRY_ASSIGN(const Directory* directory, v2->directory());
  return attach_device_program(*directory, devices);
}

Result<void> HostCgroup::change_devices(std::span<const DeviceRule> old,
                                        std::span<const DeviceRule> devices) {
  if (find_v1(nodes_, "devices") == nullptr)
    return restrict_devices(devices);  // cgroup v2 replaces the device program
  OCIRUN_TRY_ASSIGN(const DeviceChange change, plan_device_change_v1(old, devices));
  // On cgroup v1, a new default clears all exceptions. The processes are frozen until the new
  // exceptions are written.
  const bool freeze = change.passes_through_nothing &&
                      read_freezer(nodes_).value_or(FreezerState::kFrozen) == FreezerState::kThawed;
  if (freeze) OCIRUN_TRY(set_freezer(nodes_, FreezerState::kFrozen, kFreezeTime));
  Result<void> changed = apply_writes(nodes_, change.writes, record_.handed_down);
  if (!changed) {
    const Result<DeviceChange> back = plan_device_change_v1(devices, old);
    if (back) ignore(apply_writes(nodes_, back->writes, record_.handed_down));
  }
  if (!freeze) return changed;
  Result<void> thawed = set_freezer(nodes_, FreezerState::kThawed, kFreezeTime);
  return changed ? thawed : changed;
}

Result<Cgroup::JoinHandles> HostCgroup::open_for_join() const {
  return open_join_handles(nodes_, {});
}

Result<Cgroup::JoinHandles> HostCgroup::open_for_join(std::span<const std::string> paths) const {
  return open_join_handles(nodes_, paths);
}

Result<std::vector<Write>> HostCgroup::plan_writes(const Resources& resources) const {
  return plan(resources, host());
}

Result<std::vector<Write>> HostCgroup::plan_for_new(const Resources& resources) const {
  Host fresh = host();
  fresh.current = [](const std::string&) { return std::string(); };
  return plan(resources, fresh);
}

void HostCgroup::tell_dropped(const std::vector<std::string>& pointers) {
  for (const std::string& pointer : pointers) {
    if (!dropped_limit_ || contains(told_dropped_, pointer)) continue;
    told_dropped_.push_back(pointer);
    dropped_limit_(explain_dropped(pointer));
  }
}

Result<void> HostCgroup::apply(const Resources& resources) {
  OCIRUN_TRY_ASSIGN(const std::vector<Write> writes, plan_writes(resources));
  const std::size_t before = record_.handed_down.size();
  std::vector<std::string> dropped;
  Result<void> applied = apply_writes(nodes_, writes, record_.handed_down, &dropped);
  note(std::span(record_.handed_down).subspan(before));
  tell_dropped(dropped);
  return applied;
}

Result<Writes> HostCgroup::update(const Resources& resources) {
  OCIRUN_TRY_ASSIGN(const std::vector<Write> writes, plan(resources, host()));
  const std::size_t before = record_.handed_down.size();
  std::vector<std::string> dropped;
  Result<Writes> old_values = replace_values(nodes_, writes, record_.handed_down, &dropped);
  note(std::span(record_.handed_down).subspan(before));
  tell_dropped(dropped);
  return old_values;
}

void HostCgroup::restore(std::span<const Write> old_values) { restore_values(nodes_, old_values); }

Result<void> HostCgroup::freeze(FreezerState state) {
  return set_freezer(nodes_, state, kFreezeTime);
}

Result<FreezerState> HostCgroup::freezer_state() const { return read_freezer(nodes_); }

Result<void> HostCgroup::signal_all(int signal) { return signal_processes(nodes_, signal); }

Result<std::vector<int>> HostCgroup::pids() const {
  return pids_below(primary_node(nodes_).path());
}

Result<Stats> HostCgroup::stats() const { return read_stats(nodes_); }

Result<OomWatch> HostCgroup::watch_oom() const { return OomWatch::open(nodes_); }
std::optional<std::uint64_t> HostCgroup::oom_kills() const { return count_oom_kills(nodes_); }

// ocirun owns all cgroups below kOwnParent: ocirun also removes the empty cgroups that another
// container made, or that a crash left behind.
bool HostCgroup::is_below_own_parent() const {
  return record_.path.starts_with(fmt::format("{}/", kOwnParent));
}

// Removes the unused parents: rmdir(2) fails for a parent that holds cgroups of other containers.
void HostCgroup::remove_parents() const {
  for (const std::string& parent : record_.created_parents) ignore(remove_directory(parent));
  // The loop removes the empty parents that ocirun made for other containers.
  const bool all_are_ours = is_below_own_parent();
  for (const Node& node : nodes_)
    for (std::string parent = parent_of(node.path()); parent.size() > node.mount_point().size();
         parent = parent_of(parent)) {
      if (contains(record_.created_parents, parent)) continue;  // removed above
      if (!(all_are_ours || is_noted_as_made(parent)) || !remove_directory(parent)) break;
    }
}

Result<void> HostCgroup::destroy() {
  if (not_ours_) return {};
  OCIRUN_TRY(remove_nodes(nodes_));
  remove_parents();
  take_back(record_.handed_down);
  // On a hybrid host, a removed container may have enabled controllers that no container uses now.
  if (const Node* v2 = find_unified(nodes_); v2 != nullptr && nodes_.size() > 1)
    take_back_noted(*v2);
  return {};
}

Result<void> HostCgroup::leave_to_systemd() {
  if (not_ours_) return {};
  const auto others = std::ranges::partition(
      nodes_, [](const Node& node) { return node.unified() || node.has("name=systemd"); });
  const std::span<Node> watched(nodes_.begin(), others.begin());
  OCIRUN_TRY(remove_nodes(others));
  OCIRUN_TRY(empty_nodes(watched));
  remove_parents();
  take_back(record_.handed_down);
  return {};
}

}  // namespace ocirun::cgroups
