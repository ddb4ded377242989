#include "cgroups/open_cgroup.hpp"

#include "cgroups/container/freezer.hpp"
#include "cgroups/container/host_cgroup.hpp"
#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/statistics/stats.hpp"
#include "cgroups/systemd/cgroup.hpp"

namespace ocirun::cgroups {
namespace {

class DisabledCgroup final : public Cgroup {
 public:
  Result<void> create(std::span<const DeviceRule>) override { return {}; }
  Result<void> check_free() const override { return {}; }
  Result<JoinHandles> open_for_join() const override { return JoinHandles{}; }
  Result<JoinHandles> open_for_join(std::span<const std::string>) const override {
    return JoinHandles{};
  }
  void on_dropped_limit(OnDroppedLimit) override {}
  Result<void> apply(const Resources&) override { return {}; }
  Result<Writes> update(const Resources&) override { return Writes(); }
  void restore(std::span<const Write>) override {}
  Result<void> restrict_devices(std::span<const DeviceRule>) override { return {}; }
  Result<void> change_devices(std::span<const DeviceRule>, std::span<const DeviceRule>) override {
    return {};
  }
  Result<void> freeze(FreezerState) override { return {}; }
  Result<FreezerState> freezer_state() const override { return FreezerState::kThawed; }
  Result<void> signal_all(int) override { return {}; }
  Result<std::vector<int>> pids() const override { return std::vector<int>(); }
  Result<Stats> stats() const override { return Stats{}; }
  Result<OomWatch> watch_oom() const override {
    return refuse("the container has no cgroup of its own");
  }
  std::optional<std::uint64_t> oom_kills() const override { return std::nullopt; }
  Result<void> destroy() override { return {}; }
  const Record& record() const override { return record_; }

 private:
  Record record_;
};

}  // namespace

Result<std::unique_ptr<Cgroup>> make_cgroup(const Layout& layout, const Placement& placement) {
  return std::make_unique<HostCgroup>(planned_record(layout, placement));
}

Result<std::unique_ptr<Cgroup>> open_cgroup(Record record) {
  OCIRUN_TRY(check_shape(record));
  for (const auto& [controllers, directory] : record.directories)
    OCIRUN_TRY(within(check_is_in_cgroupfs(directory), "the container's record"));
  if (!record.unit.empty()) return std::make_unique<SystemdCgroup>(std::move(record));
  return std::make_unique<HostCgroup>(std::move(record));
}

Result<FreezerState> freezer_state_of(const Record& record) {
  OCIRUN_TRY(check_shape(record));
  const std::vector<Node> nodes = nodes_with_freezer(record);
  for (const Node& node : nodes) {
    OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
    OCIRUN_TRY(within(directory->check_filesystem(), "the container's record"));
  }
  return read_freezer(nodes);
}

std::unique_ptr<Cgroup> disabled_cgroup() { return std::make_unique<DisabledCgroup>(); }

}  // namespace ocirun::cgroups
