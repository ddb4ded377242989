#include <algorithm>

#include "cgroups/hierarchies/text.hpp"
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::string_view kResources = "/linux/resources";

Result<void> check_memory(const Memory& memory) {
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
  return {};
}

/// ^[1-9][0-9]*[KMG]B$: the text becomes part of a file name.
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
  for (const auto& [device, limits] : resources.rdma)
    if (!is_one_word(device))
      return refuse("{}/rdma: \"{}\" is no device's name", kResources, device);
  return {};
}

}  // namespace ocirun::cgroups
