#include <algorithm>

#include "cgroups/plan.hpp"
#include "cgroups/text.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::string_view kResources = "/linux/resources";

Result<void> check_memory(const Memory& memory) {
  const std::pair<std::optional<std::int64_t>, const char*> limits[] = {
      {memory.limit, "limit"},
      {memory.reservation, "reservation"},
      {memory.swap, "swap"},
      {memory.kernel, "kernel"},
      {memory.kernel_tcp, "kernelTCP"}};
  for (const auto& [bytes, field] : limits)
    if (bytes.value_or(0) < -1)
      return refuse("{}/memory/{}: {} is not a number of bytes, nor -1 for unlimited", kResources,
                    field, *bytes);
  if (memory.swappiness.value_or(0) > 100)
    return refuse("{}/memory/swappiness: {} is not between 0 and 100", kResources,
                  *memory.swappiness);
  const std::int64_t limit = memory.limit.value_or(0);
  const std::int64_t swap = memory.swap.value_or(0);
  if (swap > 0 && limit == -1)
    return refuse("{}/memory/swap: {} limits memory and swap together, but memory is unlimited",
                  kResources, swap);
  if (swap > 0 && limit > swap)
    return refuse(
        "{}/memory/swap: {} counts memory too and must not be below the limit of {} bytes",
        kResources, swap, limit);
  return {};
}

Result<void> check_cpu(const Cpu& cpu) {
  const std::int64_t quota = cpu.quota.value_or(0);
  if (quota > 0 && cpu.burst.value_or(0) > static_cast<std::uint64_t>(quota))
    return refuse("{}/cpu/burst: {} is more than the quota of {} microseconds", kResources,
                  *cpu.burst, quota);
  if (cpu.idle && *cpu.idle != 0 && *cpu.idle != 1)
    return refuse("{}/cpu/idle: {} is neither 0 nor 1", kResources, *cpu.idle);
  return {};
}

Result<void> check_block_io(const BlockIo& io) {
  const auto check_weight = [](std::optional<std::uint16_t> weight, const std::string& pointer) {
    const unsigned value = weight.value_or(0);  // 0: unset, clients send it
    return value == 0 || (value >= 10 && value <= 1000)
               ? Result<void>{}
               : refuse("{}: {} is not between 10 and 1000", pointer, value);
  };
  TRY(check_weight(io.weight, fmt::format("{}/blockIO/weight", kResources)));
  TRY(check_weight(io.leaf_weight, fmt::format("{}/blockIO/leafWeight", kResources)));
  for (std::size_t i = 0; i < io.weight_devices.size(); ++i) {
    const WeightDevice& device = io.weight_devices[i];
    const std::string pointer = fmt::format("{}/blockIO/weightDevice/{}", kResources, i);
    if (!device.weight && !device.leaf_weight)
      return refuse("{}: must have weight or leafWeight", pointer);
    TRY(check_weight(device.weight, pointer + "/weight"));
    TRY(check_weight(device.leaf_weight, pointer + "/leafWeight"));
  }
  return {};
}

/// ^[1-9][0-9]*[KMG]B$: it becomes part of a file's name.
bool is_page_size(std::string_view text) {
  if (text.size() < 3 || !text.ends_with('B') ||
      std::string_view("KMG").find(text[text.size() - 2]) == std::string_view::npos)
    return false;
  text.remove_suffix(2);
  return text[0] != '0' && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<void> check_resources(const Resources& resources) {
  if (resources.memory) TRY(check_memory(*resources.memory));
  if (resources.cpu) TRY(check_cpu(*resources.cpu));
  if (resources.pids_limit.value_or(0) < -1)
    return refuse("{}/pids/limit: {} is not a number of processes, nor -1 for unlimited",
                  kResources, *resources.pids_limit);
  if (resources.block_io) TRY(check_block_io(*resources.block_io));
  for (std::size_t i = 0; i < resources.hugepage_limits.size(); ++i)
    if (!is_page_size(resources.hugepage_limits[i].page_size))
      return refuse(
          "{}/hugepageLimits/{}/pageSize: \"{}\" is not a number followed by KB, MB or GB",
          kResources, i, resources.hugepage_limits[i].page_size);
  if (resources.network)
    for (std::size_t i = 0; i < resources.network->priorities.size(); ++i)
      if (!is_one_word(resources.network->priorities[i].name))
        return refuse("{}/network/priorities/{}/name: \"{}\" is no interface's name", kResources, i,
                      resources.network->priorities[i].name);
  for (const auto& [device, limits] : resources.rdma) {
    if (!is_one_word(device))
      return refuse("{}/rdma: \"{}\" is no device's name", kResources, device);
    if (!limits.hca_handles && !limits.hca_objects)
      return refuse("{}/rdma/{}: must have hcaHandles or hcaObjects", kResources, device);
  }
  return {};
}

}  // namespace ocirun::cgroups
