#include "pods/run/sandbox/pod_cgroup.hpp"

#include <algorithm>

#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/open_cgroup.hpp"
#include "cgroups/plan/resources.hpp"
#include "cgroups/systemd/slice.hpp"
#include "linux/files/procfs.hpp"
#include "linux/namespaces/namespaces.hpp"

namespace ocirun::pods {
namespace {

Result<cgroups::Layout> read_layout() {
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  return cgroups::read_layout(procfs);
}

Result<std::unique_ptr<cgroups::Cgroup>> cgroup_at(const std::string& path) {
  OCIRUN_TRY_ASSIGN(const cgroups::Layout layout, read_layout());
  OCIRUN_TRY_ASSIGN(const cgroups::Placement placement, cgroups::place(path, ""));
  return cgroups::make_cgroup(layout, placement);
}

constexpr std::string_view kNoCgroup =
    "no cgroup is delegated to you, which could keep limits (on a host with cgroup v2 alone, "
    "`systemd-run --user --scope -p Delegate=yes` starts a command in one)";

bool has_any(const Amounts& amounts) { return amounts.cpus || amounts.memory; }

}  // namespace

Result<std::string> cgroup_path_for(const std::string& pod) {
  std::string below = fmt::format("{}/{}", cgroups::kOwnParent, pod);
  if (linux::is_in_initial_user_namespace()) return below;
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  const auto layout = cgroups::read_layout(procfs);
  const auto base = layout ? cgroups::delegated_cgroup(*layout) : std::nullopt;
  if (base) return *base + below;
  return layout && cgroups::owns_hierarchies(*layout) ? below : "";
}

Result<std::string> settle_cgroup_for(const std::string& pod) {
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                    linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  if (const auto layout = cgroups::read_layout(procfs)) {
    OCIRUN_TRY_ASSIGN(const auto service, cgroups::leave_delegated_cgroup(*layout));
    if (service) return fmt::format("{}{}/{}", *service, cgroups::kOwnParent, pod);
  }
  return cgroup_path_for(pod);
}

Result<void> check_unlimited(const Workload& workload, Requests requests) {
  const Pod& pod = workload.pod;
  if (has_any(pod.limits)) return refuse("the document limits the whole pod, but {}", kNoCgroup);
  for (const Container* container : all_containers(pod)) {
    const Resources& resources = container->resources;
    if (has_any(resources.limits))
      return refuse("{}: container \"{}\" has limits of memory or processors, but {}",
                    workload.at(resources.place), container->name, kNoCgroup);
    if (requests == Requests::kHard && has_any(resources.requests))
      return refuse("--enforce-required: {}", kNoCgroup);
  }
  return {};
}

bool has_requests(const Pod& pod) {
  return std::ranges::any_of(all_containers(pod), [](const Container* container) {
    return has_any(container->resources.requests) || container->security.cpu_shares;
  });
}

Result<void> check_unused(const std::string& path) {
  OCIRUN_TRY_ASSIGN(const auto cgroup, cgroup_at(path));
  const auto pids = cgroup->pids();
  if (!pids || pids->empty()) return {};  // absent, or left by a pod that was killed
  return refuse("the cgroup {} is in use by {} processes: another pod of this name runs", path,
                pids->size());
}

Result<void> make_pod_cgroup(const std::string& path, const Amounts& limits) {
  // Allows all devices here, because the cgroups of the containers have the rules.
  const cgroups::DeviceRule all{.allow = true,
                                .type = 'a',
                                .major = {},
                                .minor = {},
                                .read = true,
                                .write = true,
                                .mknod = true};
  auto made = [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const auto cgroup, cgroup_at(path));
    // Only the host's root may allow or forbid devices.
    if (!linux::is_in_initial_user_namespace())
      cgroup->on_refused_devices([](const Error&) { return Result<void>(); });
    OCIRUN_TRY(cgroup->create({&all, 1}));
    auto applied = cgroup->apply(resources_of(limits));
    if (!applied) ignore(cgroup->destroy());
    return applied;
  }();
  return within(std::move(made), "the pod's cgroup {}", path);
}

Result<cgroups::Cgroup::JoinHandles> make_helper_cgroup(const std::string& path) {
  auto made = [&]() -> Result<cgroups::Cgroup::JoinHandles> {
    OCIRUN_TRY_ASSIGN(const auto cgroup, cgroup_at(path));
    OCIRUN_TRY(cgroup->create({}));
    return cgroup->open_for_join();
  }();
  return within(std::move(made), "the cgroup {}", path);
}

cgroups::Resources resources_of(const Amounts& limits) {
  cgroups::Resources resources;
  if (limits.memory)
    resources.memory.emplace().limit = static_cast<std::int64_t>(
        std::min<std::uint64_t>(*limits.memory, std::numeric_limits<std::int64_t>::max()));
  if (limits.cpus) {
    resources.cpu.emplace().period = cgroups::kUsualPeriod;
    resources.cpu->quota = cgroups::quota_of(*limits.cpus);
  }
  return resources;
}

Result<void> remove_pod_cgroup(const std::string& path) {
  OCIRUN_TRY_ASSIGN(const auto cgroup, cgroup_at(path));
  return within(cgroup->destroy(), "the pod's cgroup {}", path);
}

std::uint64_t count_oom_kills(const std::string& path) {
  const auto cgroup = cgroup_at(path);
  return cgroup ? (*cgroup)->oom_kills().value_or(0) : 0;
}

Result<cgroups::Stats> read_cgroup_stats(const std::string& path) {
  OCIRUN_TRY_ASSIGN(const auto cgroup, cgroup_at(path));
  return cgroup->stats();
}

Result<cgroups::OomWatch> watch_oom(const std::string& path) {
  OCIRUN_TRY_ASSIGN(const auto cgroup, cgroup_at(path));
  return cgroup->watch_oom();
}

namespace {

cgroups::SystemdInstance instance() {
  return linux::is_root_outside() ? cgroups::SystemdInstance::kSystem
                                  : cgroups::SystemdInstance::kUser;
}

}  // namespace

std::string slice_name_for(const std::string& pod) {
  return fmt::format("ocirun-{}.slice", cgroups::escape_slice_part(pod));
}

std::string cgroups_path_in(const std::string& slice, const std::string& id) {
  return fmt::format("{}:ocirun:{}", slice, id);
}

std::string scope_name_for(const std::string& id) { return fmt::format("ocirun-{}.scope", id); }

Result<std::string> find_pod_slice(const std::string& slice) {
  OCIRUN_TRY_ASSIGN(const cgroups::Layout layout, read_layout());
  OCIRUN_TRY_ASSIGN(const cgroups::Slice found,
                    within(cgroups::Slice::find(layout, slice, instance()), "the pod's slice"));
  return found.path();
}

Result<void> make_pod_slice(const std::string& path, const std::string& pod,
                            const Amounts& limits) {
  OCIRUN_TRY_ASSIGN(const cgroups::Layout layout, read_layout());
  cgroups::Slice slice(layout, path, instance());
  return within(slice.create("ocirun pod " + pod, resources_of(limits)), "the pod's slice");
}

Result<void> remove_pod_slice(const std::string& path) {
  OCIRUN_TRY_ASSIGN(const cgroups::Layout layout, read_layout());
  cgroups::Slice slice(layout, path, instance());
  return within(slice.destroy(), "the pod's slice {}", path);
}

}  // namespace ocirun::pods
