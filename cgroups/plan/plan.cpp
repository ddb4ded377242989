#include "cgroups/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cgroups/hierarchies/text.hpp"
#include "linux/base/letters.hpp"

namespace ocirun::cgroups {
namespace {

Result<void> plan_cpuset(const Resources& resources, Writes& writes) {
  if (!resources.cpu) return {};
  const auto list = [&](const std::optional<std::string>& value, const char* field) {
    if (value && !value->empty())  // "" keeps the inherited value
      writes.push_back({.controller = "cpuset",
                        .file = fmt::format("cpuset.{}", field),
                        .value = *value,
                        .pointer = fmt::format("/linux/resources/cpu/{}", field)});
  };
  list(resources.cpu->cpus, "cpus");
  list(resources.cpu->mems, "mems");
  return {};
}

Result<void> plan_pids(const Resources& resources, Writes& writes) {
  if (resources.pids_limit)  // 0 is a valid limit: no process may fork
    writes.push_back(
        {.controller = "pids",
         .file = "pids.max",
         .value = or_max(*resources.pids_limit),
         .pointer = "/linux/resources/pids/limit",
         .if_missing = *resources.pids_limit == -1 ? IfMissing::kPassOver : IfMissing::kError});
  return {};
}

/// limits page faults and, since Linux 5.7, reservations. Without a limit on reservations, a
/// process can reserve too many pages, and SIGBUS kills the process at a page fault.
Result<void> plan_hugetlb(const Resources& resources, Writes& writes, std::string_view suffix) {
  for (std::size_t i = 0; i < resources.hugepage_limits.size(); ++i) {
    const auto& [page_size, limit] = resources.hugepage_limits[i];
    const std::string value = fmt::to_string(limit);
    const std::string pointer = fmt::format("/linux/resources/hugepageLimits/{}", i);
    writes.push_back({.controller = "hugetlb",
                      .file = fmt::format("hugetlb.{}.{}", page_size, suffix),
                      .value = value,
                      .pointer = pointer});
    writes.push_back({.controller = "hugetlb",
                      .file = fmt::format("hugetlb.{}.rsvd.{}", page_size, suffix),
                      .value = value,
                      .pointer = pointer,
                      .if_missing = IfMissing::kPassOver});
  }
  return {};
}
Result<void> plan_hugetlb_v1(const Resources& resources, Writes& writes) {
  return plan_hugetlb(resources, writes, "limit_in_bytes");
}
Result<void> plan_hugetlb_v2(const Resources& resources, const Host&, Writes& writes) {
  return plan_hugetlb(resources, writes, "max");
}

Result<void> plan_rdma(const Resources& resources, Writes& writes) {
  for (const auto& [device, limits] : resources.rdma) {
    std::string value = device;
    if (limits.hca_handles) value += fmt::format(" hca_handle={}", *limits.hca_handles);
    if (limits.hca_objects) value += fmt::format(" hca_object={}", *limits.hca_objects);
    writes.push_back({.controller = "rdma",
                      .file = "rdma.max",
                      .value = value,
                      .pointer = fmt::format("/linux/resources/rdma/{}", device)});
  }
  return {};
}

using PlanV1 = Result<void> (*)(const Resources&, Writes&);
using PlanV2 = Result<void> (*)(const Resources&, const Host&, Writes&);

template <PlanV1 kPlan>
Result<void> same_in_v2(const Resources& resources, const Host&, Writes& writes) {
  return kPlan(resources, writes);
}

/// Plans a section without a controller in cgroup v2: a limit is an error.
template <PlanV1 kPlan>
Result<void> absent_in_v2(const Resources& resources, const Host&, Writes& writes) {
  const std::size_t before = writes.size();
  OCIRUN_TRY(kPlan(resources, writes));
  std::erase_if(writes, [](const Write& w) { return w.if_missing == IfMissing::kPassOver; });
  if (writes.size() > before)
    return refuse("{}: cgroup v2 has no {} controller, and this host does not mount it as v1",
                  writes[before].pointer, writes[before].controller);
  return {};
}

struct Section {
  std::string_view v1, v2;  // the controller's name in each version of cgroups
  PlanV1 plan_v1;
  PlanV2 plan_v2;
};

constexpr Section kSections[] = {
    {"cpuset", "cpuset", plan_cpuset, same_in_v2<plan_cpuset>},
    {"cpu", "cpu", plan_cpu_v1, plan_cpu_v2},
    {"memory", "memory", plan_memory_v1, plan_memory_v2},
    {"pids", "pids", plan_pids, same_in_v2<plan_pids>},
    {"blkio", "io", plan_block_io_v1,
     [](const Resources& r, const Host&, Writes& w) { return plan_block_io_v2(r, w); }},
    {"hugetlb", "hugetlb", plan_hugetlb_v1, plan_hugetlb_v2},
    {"net_cls", "", plan_network, absent_in_v2<plan_network>},
    {"rdma", "rdma", plan_rdma, same_in_v2<plan_rdma>},
};

/// Handles writes whose controller this host lacks: refuses a write with IfMissing::kError, removes
/// the other writes.
Result<void> keep_what_the_host_has(const Host& host, Writes& writes) {
  for (const Write& write : writes)
    if (write.if_missing == IfMissing::kError && host.home(write.controller) == Home::kNowhere)
      return refuse(
          "{}: the {} controller is neither mounted as cgroup v1 nor available in the unified "
          "hierarchy of this host",
          write.pointer, write.controller);
  std::erase_if(writes, [&](const Write& write) {
    return !write.controller.empty() && host.home(write.controller) == Home::kNowhere;
  });
  return {};
}

}  // namespace

Result<std::vector<Write>> plan(const Resources& resources, const Host& host) {
  OCIRUN_TRY(check_resources(resources));
  Writes all;
  for (const Section& section : kSections) {
    Writes writes;
    const bool as_v2 = host.home(section.v1) != Home::kV1 &&
                       (!host.has_v1 || host.home(section.v2) == Home::kUnified);
    if (as_v2)
      OCIRUN_TRY(section.plan_v2(resources, host, writes));
    else
      OCIRUN_TRY(section.plan_v1(resources, writes));
    OCIRUN_TRY(keep_what_the_host_has(host, writes));
    std::ranges::move(writes, std::back_inserter(all));
  }
  OCIRUN_TRY(plan_unified(resources, host, all));  // last: "unified" overrides the other fields
  return all;
}

namespace {

// std::log2() and std::pow() would add libm's tables to the program for a single formula.

// atanh(t) = t + t³/3 + t⁵/5 …, to the last bit of a double for t <= 1/3.
constexpr double atanh_series(double t) {
  double sum = 0, power = t;
  for (int k = 1; k < 40; k += 2, power *= t * t) sum += power / k;
  return sum;
}

constexpr double kLn2 = 0.693147180559945309417;
constexpr double kLn10 = 2.302585092994045684018;

double log2_of(std::uint64_t number) {
  const int whole = static_cast<int>(std::bit_width(number)) - 1;
  const double mantissa =
      static_cast<double>(number) / static_cast<double>(std::uint64_t{1} << whole);  // 1 … 2
  return whole + 2 * atanh_series((mantissa - 1) / (mantissa + 1)) / kLn2;
}

// 10 to the power of `exponent` (0 … 4). The result for a whole exponent is exact.
double power_of_ten(double exponent) {
  double result = 1;
  for (; exponent >= 1; exponent -= 1) result *= 10;
  double term = 1, sum = 1;
  for (int k = 1; k < 30; ++k) sum += term *= exponent * kLn10 / k;
  return result * sum;
}

std::uint64_t round_up(double number) {
  const auto whole = static_cast<std::uint64_t>(number);
  return whole + (static_cast<double>(whole) < number ? 1 : 0);
}

}  // namespace

std::uint64_t cpu_weight(std::uint64_t shares) {
  if (shares <= 2) return 1;
  if (shares >= 262144) return 10000;
  const double l = log2_of(shares);
  // The formula is (l² + 125 l) / 612 - 7 / 34. A single division gives an exact exponent for 1024
  // shares: with a rounding error, the weight would be 101 instead of 100.
  const double exponent = (l * l + 125 * l - 126) / 612;
  return round_up(power_of_ten(exponent));
}

std::uint64_t io_weight(std::uint64_t blkio_weight) {
  return blkio_weight < 10 ? 1 : 1 + (blkio_weight - 10) * 9999 / 990;
}

std::string or_max(std::int64_t limit) { return limit == -1 ? "max" : fmt::to_string(limit); }

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

/// Whether the text matches ^[1-9][0-9]*[KMG]B$. The text becomes part of a file name.
bool is_page_size(std::string_view text) {
  if (text.size() < 3 || !text.ends_with('B') ||
      std::string_view("KMG").find(text[text.size() - 2]) == std::string_view::npos)
    return false;
  text.remove_suffix(2);
  return text[0] != '0' && std::ranges::all_of(text, linux::is_digit);
}

}  // namespace

Result<void> check_resources(const Resources& resources) {
  if (resources.memory) OCIRUN_TRY(check_memory(*resources.memory));
  if (resources.cpu) OCIRUN_TRY(check_cpu(*resources.cpu));
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

Result<void> plan_network(const Resources& resources, Writes& writes) {
  if (!resources.network) return {};
  if (resources.network->class_id)
    writes.push_back({.controller = "net_cls",
                      .file = "net_cls.classid",
                      .value = fmt::to_string(*resources.network->class_id),
                      .pointer = "/linux/resources/network/classID",
                      .if_missing = *resources.network->class_id == 0 ? IfMissing::kPassOver
                                                                      : IfMissing::kError});
  const auto& priorities = resources.network->priorities;
  for (std::size_t i = 0; i < priorities.size(); ++i)
    writes.push_back(
        {.controller = "net_prio",
         .file = "net_prio.ifpriomap",
         .value = fmt::format("{} {}", priorities[i].name, priorities[i].priority),
         .pointer = fmt::format("/linux/resources/network/priorities/{}", i),
         .if_missing = priorities[i].priority == 0 ? IfMissing::kPassOver : IfMissing::kError});
  return {};
}

Result<void> plan_unified(const Resources& resources, const Host& host, Writes& writes) {
  // Only the runtime writes these files. For example, a container that config.json freezes would
  // never start.
  constexpr std::string_view kOurs[] = {"cgroup.procs", "cgroup.threads", "cgroup.freeze",
                                        "cgroup.kill"};
  for (const auto& [file, value] : resources.unified) {
    const std::string pointer = fmt::format("/linux/resources/unified/{}", file);
    const std::size_t dot = file.find('.');
    if (file.contains('/') || file.contains('\0') || dot == std::string::npos || dot == 0)
      return refuse(
          "{}: must be the name of a file in the cgroup, \"controller.setting\" without \"/\"",
          pointer);
    if (contains(kOurs, file))
      return refuse("{}: processes, freezing and killing are the runtime's business", pointer);
    if (!host.has_unified)
      return refuse("{}: this host has no unified (v2) hierarchy to write it in", pointer);
    std::string controller = file.substr(0, dot);
    // "cgroup.*" and pressure files belong to no controller.
    if (controller == "cgroup" || file.ends_with(".pressure")) controller.clear();
    if (!controller.empty() && host.home(controller) != Home::kUnified)
      return refuse("{}: the {} controller is not available in the unified hierarchy{}", pointer,
                    controller,
                    host.home(controller) == Home::kV1 ? ": this host mounts it as cgroup v1" : "");
    for (const std::string_view line : words(value, '\n'))
      writes.push_back(
          {.controller = controller, .file = file, .value = std::string(line), .pointer = pointer});
  }
  return {};
}

}  // namespace ocirun::cgroups
