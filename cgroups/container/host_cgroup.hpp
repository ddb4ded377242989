#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cgroups/container/cgroup.hpp"
#include "cgroups/hierarchies/node.hpp"
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {

/// A cgroup that ocirun makes itself in the mounted hierarchies ("cgroupfs" driver).
class HostCgroup final : public Cgroup {
 public:
  explicit HostCgroup(Record record);

  /// Tells create() that the existing cgroup may hold process `pid`: the holder of a systemd scope.
  void expect(int pid) { expected_ = pid; }
  /// The writes that apply() would make.
  Result<std::vector<Write>> plan_writes(const Resources& resources) const;
  /// The writes that apply() would make if the cgroup had the kernel's values.
  Result<std::vector<Write>> plan_for_new(const Resources& resources) const;

  void on_dropped_limit(OnDroppedLimit listener) override { dropped_limit_ = std::move(listener); }
  Result<void> create(std::span<const DeviceRule> devices) override;
  Result<void> check_free() const override;
  Result<JoinHandles> open_for_join() const override;
  Result<JoinHandles> open_for_join(std::span<const std::string> paths) const override;
  Result<void> apply(const Resources& resources) override;
  Result<Writes> update(const Resources& resources) override;
  void restore(std::span<const Write> old_values) override;
  Result<void> restrict_devices(std::span<const DeviceRule> devices) override;
  Result<void> change_devices(std::span<const DeviceRule> old,
                              std::span<const DeviceRule> devices) override;
  Result<void> freeze(FreezerState state) override;
  Result<FreezerState> freezer_state() const override;
  Result<void> signal_all(int signal) override;
  Result<std::vector<int>> pids() const override;
  Result<Stats> stats() const override;
  Result<OomWatch> watch_oom() const override;
  std::optional<std::uint64_t> oom_kills() const override;
  Result<void> destroy() override;
  /// Replaces destroy() for a systemd scope when the request to stop the scope did not reach
  /// systemd. Kills the processes and leaves the empty cgroup, because its emptiness is how systemd
  /// notices the end. If the cgroup were removed, systemd would believe for ever that the scope is
  /// running.
  Result<void> leave_to_systemd();
  const Record& record() const override { return record_; }

 private:
  Host host() const;
  bool is_left_over();
  Result<Made> create_node(const Node& node);
  Result<void> write_device_rules(std::span<const DeviceRule> devices);
  bool is_below_own_parent() const;
  void remove_parents() const;
  void tell_dropped(const std::vector<std::string>& pointers);

  Record record_;
  std::vector<Node> nodes_;
  int expected_ = 0;
  OnDroppedLimit dropped_limit_;
  std::vector<std::string> told_dropped_;
  std::optional<bool> is_left_over_;  // read before create() removes and makes the first node
  // create() failed and has removed what it made. An existing cgroup then belongs to another
  // container, whose processes destroy() must not kill.
  bool not_ours_ = false;
};

}  // namespace ocirun::cgroups
