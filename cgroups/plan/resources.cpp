#include "cgroups/plan/resources.hpp"

#include <algorithm>
#include <cmath>

namespace ocirun::cgroups {
namespace {

template <typename T>
void take(std::optional<T>& now, const std::optional<T>& change) {
  if (change) now = change;
}

/// Each entry of `change` replaces the entry of `now` with the same key, or is added to `now`.
template <typename Entry, typename Same>
void join(std::vector<Entry>& now, const std::vector<Entry>& change, Same same) {
  for (const Entry& entry : change) {
    const auto old = std::ranges::find_if(now, [&](const Entry& e) { return same(e, entry); });
    if (old == now.end())
      now.push_back(entry);
    else
      *old = entry;
  }
}

constexpr auto same_device = [](const auto& a, const auto& b) {
  return a.major == b.major && a.minor == b.minor;
};

void merge_memory(Memory& now, const Memory& change) {
  take(now.limit, change.limit);
  take(now.reservation, change.reservation);
  take(now.swap, change.swap);
  take(now.kernel, change.kernel);
  take(now.kernel_tcp, change.kernel_tcp);
  take(now.swappiness, change.swappiness);
  take(now.disable_oom_killer, change.disable_oom_killer);
  take(now.use_hierarchy, change.use_hierarchy);
  take(now.check_before_update, change.check_before_update);
}

void merge_cpu(Cpu& now, const Cpu& change) {
  take(now.shares, change.shares);
  take(now.quota, change.quota);
  take(now.burst, change.burst);
  take(now.period, change.period);
  take(now.realtime_runtime, change.realtime_runtime);
  take(now.realtime_period, change.realtime_period);
  take(now.cpus, change.cpus);
  take(now.mems, change.mems);
  take(now.idle, change.idle);
}

void merge_block_io(BlockIo& now, const BlockIo& change) {
  take(now.weight, change.weight);
  take(now.leaf_weight, change.leaf_weight);
  for (const WeightDevice& device : change.weight_devices) {
    const auto old = std::ranges::find_if(
        now.weight_devices, [&](const WeightDevice& d) { return same_device(d, device); });
    if (old == now.weight_devices.end()) {
      now.weight_devices.push_back(device);
      continue;
    }
    take(old->weight, device.weight);
    take(old->leaf_weight, device.leaf_weight);
  }
  join(now.read_bps, change.read_bps, same_device);
  join(now.write_bps, change.write_bps, same_device);
  join(now.read_iops, change.read_iops, same_device);
  join(now.write_iops, change.write_iops, same_device);
}

/// Merges the section `change`, if given, into the section `now`, which may not exist yet.
template <typename Section, typename Merge>
void merge_section(std::optional<Section>& now, const std::optional<Section>& change, Merge merge) {
  if (!change) return;
  if (!now) now.emplace();
  merge(*now, *change);
}

}  // namespace

std::int64_t quota_of(double cpus) {
  return static_cast<std::int64_t>(std::clamp(std::ceil(cpus * double{kUsualPeriod}),
                                              static_cast<double>(kLeastQuota),
                                              static_cast<double>(kMostQuota)));
}

Resources merge(Resources now, const Resources& change) {
  if (!change.devices.empty()) now.devices = change.devices;
  merge_section(now.memory, change.memory, merge_memory);
  merge_section(now.cpu, change.cpu, merge_cpu);
  take(now.pids_limit, change.pids_limit);
  merge_section(now.block_io, change.block_io, merge_block_io);
  join(now.hugepage_limits, change.hugepage_limits,
       [](const auto& a, const auto& b) { return a.page_size == b.page_size; });
  merge_section(now.network, change.network, [](Network& network, const Network& given) {
    take(network.class_id, given.class_id);
    join(network.priorities, given.priorities,
         [](const auto& a, const auto& b) { return a.name == b.name; });
  });
  for (const auto& [device, limits] : change.rdma) {
    take(now.rdma[device].hca_handles, limits.hca_handles);
    take(now.rdma[device].hca_objects, limits.hca_objects);
  }
  join(now.unified, change.unified,
       [](const auto& a, const auto& b) { return a.first == b.first; });
  return now;
}

}  // namespace ocirun::cgroups
