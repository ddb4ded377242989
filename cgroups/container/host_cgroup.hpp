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

  /// A process that was put into it for create() to find, and that does not count.
  void expect(int pid) { expected_ = pid; }
  /// What apply() would write.
  Result<std::vector<Write>> plan_writes(const Resources& resources) const;

  void on_dropped_limit(OnDroppedLimit listener) override { dropped_limit_ = std::move(listener); }
  Result<void> create(std::span<const DeviceRule> devices) override;
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
  std::uint64_t oom_kills() const override;
  Result<void> destroy() override;
  /// destroy() for a scope whose end could not be told to systemd. The cgroup stays, empty: that is
  /// how systemd notices. Were it gone, systemd would take the scope for running for ever.
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
  std::optional<bool> is_left_over_;  // asked before the first node is made anew
  // create() failed and has undone what it made. What stands there belongs to somebody else: an
  // undo that destroys must not kill the container whose cgroup we were refused.
  bool not_ours_ = false;
};

}  // namespace ocirun::cgroups
