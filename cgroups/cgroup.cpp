#include "cgroups/cgroup.hpp"

#include "cgroups/host_cgroup.hpp"
#include "cgroups/stats.hpp"

namespace ocirun::cgroups {
namespace {

class DisabledCgroup final : public Cgroup {
 public:
  Result<void> create(std::span<const DeviceRule>) override { return {}; }
  Result<JoinHandles> open_for_join() const override { return JoinHandles{}; }
  Result<JoinHandles> open_for_join(std::span<const std::string>) const override {
    return JoinHandles{};
  }
  Result<void> attach(int) const override { return {}; }
  Result<void> apply(const Resources&) override { return {}; }
  Result<void> restrict_devices(std::span<const DeviceRule>) override { return {}; }
  Result<void> freeze(FreezerState) override { return {}; }
  Result<FreezerState> freezer_state() const override { return FreezerState::kThawed; }
  Result<void> signal_all(int) override { return {}; }
  Result<std::vector<int>> pids() const override { return std::vector<int>(); }
  Result<Stats> stats() const override { return Stats{}; }
  Result<void> destroy() override { return {}; }
  const Record& record() const override { return record_; }

 private:
  Record record_;
};

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ","));
}

}  // namespace

Result<std::unique_ptr<Cgroup>> make_cgroup(const Layout& layout, const Placement& placement) {
  Record record{.path = placement.path, .directories = {}, .created_parents = {}};
  for (const Hierarchy& hierarchy : layout.hierarchies)
    record.directories.emplace_back(joined(hierarchy.controllers),
                                    hierarchy.mount_point.string() + placement.path);
  return open_cgroup(std::move(record));
}

Result<std::unique_ptr<Cgroup>> open_cgroup(Record record) {
  if (record.directories.empty()) return refuse("the container's record names no cgroup");
  return std::make_unique<HostCgroup>(std::move(record));
}

std::unique_ptr<Cgroup> disabled_cgroup() { return std::make_unique<DisabledCgroup>(); }

}  // namespace ocirun::cgroups
