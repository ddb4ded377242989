#include "pods/run/pod_cgroup.hpp"

#include <algorithm>
#include <cmath>

#include "cgroups/open_cgroup.hpp"

namespace ocirun::pods {
namespace {

Result<std::unique_ptr<cgroups::Cgroup>> cgroup_at(const std::string& path) {
  TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  TRY_ASSIGN(const cgroups::Layout layout, cgroups::read_layout(procfs));
  TRY_ASSIGN(const cgroups::Placement placement, cgroups::place(path, ""));
  return cgroups::make_cgroup(layout, placement);
}

}  // namespace

std::string cgroup_path_for(const std::string& pod) { return "/ocirun/" + pod; }

Result<void> check_unused(const std::string& path) {
  TRY_ASSIGN(const auto cgroup, cgroup_at(path));
  const auto pids = cgroup->pids();
  if (!pids || pids->empty()) return {};  // absent, or left by a pod that was killed
  return refuse("the cgroup {} is in use by {} processes: another pod of this name runs", path,
                pids->size());
}

Result<void> make_pod_cgroup(const std::string& path, const Amounts& limits) {
  // The cgroups of the containers have the rules for devices.
  const cgroups::DeviceRule all{.allow = true,
                                .type = 'a',
                                .major = {},
                                .minor = {},
                                .read = true,
                                .write = true,
                                .mknod = true};
  auto made = [&]() -> Result<void> {
    TRY_ASSIGN(const auto cgroup, cgroup_at(path));
    TRY(cgroup->create({&all, 1}));
    auto applied = cgroup->apply(resources_of(limits));
    if (!applied) static_cast<void>(cgroup->destroy());
    return applied;
  }();
  return within(std::move(made), fmt::format("the pod's cgroup {}", path));
}

cgroups::Resources resources_of(const Amounts& limits) {
  cgroups::Resources resources;
  constexpr double kPeriod = 100'000;  // microseconds
  if (limits.memory)
    resources.memory.emplace().limit = static_cast<std::int64_t>(
        std::min<std::uint64_t>(*limits.memory, std::numeric_limits<std::int64_t>::max()));
  if (limits.cpus) {
    resources.cpu.emplace().period = static_cast<std::uint64_t>(kPeriod);
    resources.cpu->quota =
        static_cast<std::int64_t>(std::clamp(std::ceil(*limits.cpus * kPeriod), 1000.0, 1e15));
  }
  return resources;
}

Result<void> remove_pod_cgroup(const std::string& path) {
  TRY_ASSIGN(const auto cgroup, cgroup_at(path));
  return within(cgroup->destroy(), fmt::format("the pod's cgroup {}", path));
}

std::uint64_t count_oom_kills(const std::string& path) {
  const auto cgroup = cgroup_at(path);
  return cgroup ? (*cgroup)->oom_kills() : 0;
}

}  // namespace ocirun::pods
