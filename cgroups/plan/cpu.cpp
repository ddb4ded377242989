#include "cgroups/plan/plan.hpp"

#include <fmt/format.h>

namespace ocirun::cgroups {
namespace {

constexpr const char* kShares = "/linux/resources/cpu/shares";
constexpr const char* kIdle = "/linux/resources/cpu/idle";
constexpr const char* kQuota = "/linux/resources/cpu/quota";
constexpr const char* kPeriod = "/linux/resources/cpu/period";
constexpr const char* kBurst = "/linux/resources/cpu/burst";

/// The kernel refuses a weight for an idle cgroup (EINVAL). A cgroup that stops being idle gets the
/// default weight. So the plan writes the weight after "0" and before "1" to cpu.idle.
void plan_weight(const Cpu& cpu, const char* file, const std::string& weight, Writes& writes) {
  const bool has_weight = !weight.empty();
  if (cpu.idle && (*cpu.idle == 0 || has_weight))
    writes.push_back({.controller = "cpu",
                      .file = "cpu.idle",
                      .value = "0",
                      .pointer = kIdle,
                      .if_missing = *cpu.idle == 0 ? IfMissing::kPassOver : IfMissing::kError});
  if (has_weight)
    writes.push_back({.controller = "cpu", .file = file, .value = weight, .pointer = kShares});
  if (cpu.idle && *cpu.idle == 1)
    writes.push_back({.controller = "cpu", .file = "cpu.idle", .value = "1", .pointer = kIdle});
}

template <typename Number>
std::optional<Number> unless_zero(std::optional<Number> value) {
  return value == Number{0} ? std::nullopt : value;
}

}  // namespace

Result<void> plan_cpu_v1(const Resources& resources, Writes& writes) {
  if (!resources.cpu) return {};
  const Cpu& cpu = *resources.cpu;
  const auto shares = unless_zero(cpu.shares);
  plan_weight(cpu, "cpu.shares", shares ? fmt::to_string(*shares) : "", writes);

  const auto add = [&](const char* file, std::string value, const char* pointer,
                       IfMissing if_missing = IfMissing::kError) {
    writes.push_back({.controller = "cpu",
                      .file = file,
                      .value = std::move(value),
                      .pointer = pointer,
                      .if_missing = if_missing});
  };
  if (cpu.burst)
    add("cpu.cfs_burst_us", fmt::to_string(*cpu.burst), kBurst,
        *cpu.burst == 0 ? IfMissing::kPassOver : IfMissing::kError);
  if (const auto period = unless_zero(cpu.period))
    add("cpu.cfs_period_us", fmt::to_string(*period), kPeriod);
  if (const auto quota = unless_zero(cpu.quota))
    add("cpu.cfs_quota_us", *quota < 0 ? "-1" : fmt::to_string(*quota), kQuota,
        *quota < 0 ? IfMissing::kPassOver : IfMissing::kError);
  if (const auto period = unless_zero(cpu.realtime_period))
    add("cpu.rt_period_us", fmt::to_string(*period), "/linux/resources/cpu/realtimePeriod");
  if (const auto runtime = unless_zero(cpu.realtime_runtime))
    add("cpu.rt_runtime_us", fmt::to_string(*runtime), "/linux/resources/cpu/realtimeRuntime");
  return {};
}

Result<void> plan_cpu_v2(const Resources& resources, const Host& host, Writes& writes) {
  if (!resources.cpu) return {};
  const Cpu& cpu = *resources.cpu;
  if (unless_zero(cpu.realtime_period) || unless_zero(cpu.realtime_runtime))
    return refuse(
        "/linux/resources/cpu/{}: cgroup v2 has no limits for real-time processes; leave it out "
        "or give 0",
        unless_zero(cpu.realtime_runtime) ? "realtimeRuntime" : "realtimePeriod");

  const auto shares = unless_zero(cpu.shares);
  plan_weight(cpu, "cpu.weight", shares ? fmt::to_string(cpu_weight(*shares)) : "", writes);

  if (cpu.burst)
    writes.push_back({.controller = "cpu",
                      .file = "cpu.max.burst",
                      .value = fmt::to_string(*cpu.burst),
                      .pointer = kBurst,
                      .if_missing = *cpu.burst == 0 ? IfMissing::kPassOver : IfMissing::kError});
  const auto quota = unless_zero(cpu.quota);
  const auto period = unless_zero(cpu.period);
  if (!quota && !period) return {};
  // cpu.max holds "QUOTA PERIOD". A value that the request leaves out keeps the value in the file.
  const std::string now = host.current("cpu.max");
  const std::size_t blank = now.find(' ');
  const std::string quota_now = now.empty() ? "max" : now.substr(0, blank);
  std::string value = !quota ? quota_now : *quota < 0 ? "max" : fmt::to_string(*quota);
  if (period)
    value += fmt::format(" {}", *period);
  else if (blank != std::string::npos)
    value += now.substr(blank);
  else
    value += " 100000";
  const bool no_limit = quota && *quota < 0 && !period;
  writes.push_back({.controller = "cpu",
                    .file = "cpu.max",
                    .value = value,
                    .pointer = quota ? kQuota : kPeriod,
                    .if_missing = no_limit ? IfMissing::kPassOver : IfMissing::kError});
  return {};
}

}  // namespace ocirun::cgroups
