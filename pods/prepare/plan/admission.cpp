#include "pods/prepare/plan/admission.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>

#include "pods/documents/model/device_requests.hpp"

namespace ocirun::pods {
namespace {

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b
             ? std::numeric_limits<std::uint64_t>::max()
             : a + b;
}

/// Finds the first container with which the sum of the requests exceeds the capacity.
class Sum {
 public:
  explicit Sum(const Capacity& capacity, std::vector<Shortage>& shortages)
      : capacity_(capacity), shortages_(shortages) {}

  void add(const Container& container) {
    const Amounts& requests = container.resources.requests;
    const double cpus_before = cpus_;
    const std::uint64_t memory_before = memory_;
    cpus_ += requests.cpus.value_or(0);
    memory_ = saturating_sum(memory_, requests.memory.value_or(0));
    if (cpus_before <= capacity_.cpus && cpus_ > capacity_.cpus)
      tell(container, "CPUs", fmt::format("{:g}", cpus_), fmt::format("{:g}", capacity_.cpus));
    if (memory_before <= capacity_.memory && memory_ > capacity_.memory)
      tell(container, "memory", bytes_text(memory_), bytes_text(capacity_.memory));
  }

 private:
  void tell(const Container& container, std::string_view what, const std::string& need,
            const std::string& have) {
    shortages_.push_back(
        {fmt::format("{} cannot be had: the containers up to \"{}\" need {}, and there is {}", what,
                     container.name, need, have),
         place_of(container)});
  }
  static Place place_of(const Container& container) {
    return container.resources.place != nullptr ? container.resources.place : container.place;
  }

  const Capacity& capacity_;
  std::vector<Shortage>& shortages_;
  double cpus_ = 0;
  std::uint64_t memory_ = 0;
};

/// Compares the extended resources of `container` with those of --extended. Skips a resource that
/// --extended lacks and that may be CDI devices: prepare_devices() looks for these.
void find_extended(const Container& container, const Capacity& capacity,
                   std::vector<Shortage>& out) {
  for (const ExtendedResource& resource : container.resources.extended) {
    const auto given = capacity.extended.find(resource.name);
    if (given == capacity.extended.end() && may_be_devices(resource)) continue;
    if (given == capacity.extended.end())
      out.push_back({fmt::format("the extended resource {0} is not available: --extended "
                                 "{0}={1} says that it is",
                                 resource.name, resource.required),
                     resource.place});
    else if (given->second != resource.required)
      out.push_back({fmt::format("the extended resource {} is \"{}\", and \"{}\" is required",
                                 resource.name, given->second, resource.required),
                     resource.place});
  }
}

}  // namespace

Amounts needed(const Pod& pod) {
  Amounts sum;
  for (const Container& container : pod.containers) {
    const Amounts& requests = container.resources.requests;
    if (requests.cpus) sum.cpus = sum.cpus.value_or(0) + *requests.cpus;
    if (requests.memory) sum.memory = saturating_sum(sum.memory.value_or(0), *requests.memory);
  }
  for (const Container& init : pod.init_containers) {
    sum.cpus = std::max(sum.cpus, init.resources.requests.cpus);
    sum.memory = std::max(sum.memory, init.resources.requests.memory);
  }
  return sum;
}

std::vector<Shortage> find_shortages(const Pod& pod, const Capacity& capacity) {
  std::vector<Shortage> shortages;
  for (const Container& init : pod.init_containers) {  // each runs alone
    Sum(capacity, shortages).add(init);
    find_extended(init, capacity, shortages);
  }
  Sum sum(capacity, shortages);
  for (const Container& container : pod.containers) {
    sum.add(container);
    find_extended(container, capacity, shortages);
  }
  return shortages;
}

std::string bytes_text(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  double amount = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.4g} {}", amount, kUnits[unit]);
}

}  // namespace ocirun::pods
