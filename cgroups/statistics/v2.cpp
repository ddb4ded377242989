#include <limits>

#include "cgroups/hierarchies/text.hpp"
#include "cgroups/statistics/read.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::uint64_t kNsPerUs = 1000;
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

void read_v2_cpu(const Directory& directory, Stats& stats) {
  auto table = read_table(directory, "cpu.stat");
  if (!table.contains("usage_usec")) return;
  stats.cpu = CpuStats{.total_ns = table["usage_usec"] * kNsPerUs,
                       .user_ns = table["user_usec"] * kNsPerUs,
                       .system_ns = table["system_usec"] * kNsPerUs,
                       .per_cpu_ns = {},
                       .periods = table["nr_periods"],
                       .throttled_periods = table["nr_throttled"],
                       .throttled_ns = table["throttled_usec"] * kNsPerUs,
                       .bursts = table["nr_bursts"],
                       .burst_ns = table["burst_usec"] * kNsPerUs};
}

void read_v2_memory(const Directory& directory, Stats& stats) {
  const auto usage = read_number(directory, "memory.current");
  if (!usage) return;
  MemoryStats& memory = stats.memory.emplace();
  auto events = read_table(directory, "memory.events");
  memory.events = events;
  memory.memory = {.usage = *usage,
                   // The file memory.peak exists since Linux 5.19.
                   .max_usage = read_number(directory, "memory.peak").value_or(0),
                   .fail_count = events["max"],
                   .limit = read_number(directory, "memory.max").value_or(kUnlimited)};
  memory.oom_kills = events["oom_kill"];
  memory.raw = read_table(directory, "memory.stat");
  if (const auto file = memory.raw.find("file"); file != memory.raw.end())
    memory.cache = file->second;
  if (const auto kernel = memory.raw.find("kernel"); kernel != memory.raw.end())
    memory.kernel = {.usage = kernel->second, .limit = kUnlimited};
  if (const auto swap = read_number(directory, "memory.swap.current")) {
    // Clients expect the sum of memory and swap, as on cgroup v1.
    const std::uint64_t limit = read_number(directory, "memory.swap.max").value_or(kUnlimited);
    const bool unlimited = limit == kUnlimited || memory.memory.limit == kUnlimited;
    memory.swap_alone = {.usage = *swap,
                         // The file memory.swap.peak exists since Linux 6.5.
                         .max_usage = read_number(directory, "memory.swap.peak").value_or(0),
                         .fail_count = read_table(directory, "memory.swap.events")["max"],
                         .limit = limit};
    memory.swap = {.usage = *usage + *swap,
                   .max_usage = 0,
                   .fail_count = memory.swap_alone->fail_count,
                   .limit = unlimited ? kUnlimited : limit + memory.memory.limit};
  }
}

/// Reads the lines "MAJOR:MINOR rbytes=N wbytes=N rios=N wios=N dbytes=N dios=N" of io.stat.
void read_io(const Directory& directory, Stats& stats) {
  struct Key {
    std::string_view key, name, operation;
  };
  constexpr Key kKeys[] = {
      {"rbytes", "ioServiceBytesRecursive", "Read"},
      {"wbytes", "ioServiceBytesRecursive", "Write"},
      {"rios", "ioServicedRecursive", "Read"},
      {"wios", "ioServicedRecursive", "Write"},
      {"dbytes", "ioServiceBytesRecursive", "Discard"},
      {"dios", "ioServicedRecursive", "Discard"},
  };
  const std::string text = directory.read_or_empty("io.stat");
  for (const std::string_view line : words(text, '\n')) {
    const auto columns = words(line);
    const auto device = split(columns[0], ':');
    const auto major = number(device[0]);
    const auto minor = device.size() == 2 ? number(device[1]) : std::nullopt;
    if (!major || !minor) continue;
    for (std::size_t i = 1; i < columns.size(); ++i) {
      const auto pair = split(columns[i], '=');
      const auto value = pair.size() == 2 ? number(pair[1]) : std::nullopt;
      for (const Key& key : kKeys)
        if (value && pair[0] == key.key)
          stats.block_io[std::string(key.name)].push_back({.major = *major,
                                                           .minor = *minor,
                                                           .operation = std::string(key.operation),
                                                           .value = *value});
    }
  }
}

void read_v2_hugetlb(const Directory& directory, Stats& stats) {
  for (const std::string& size : hugetlb_page_sizes(directory)) {
    const auto usage = read_number(directory, fmt::format("hugetlb.{}.current", size));
    if (usage)
      stats.hugetlb[size] = {
          .usage = *usage,
          .max_usage = 0,
          .fail_count = read_table(directory, fmt::format("hugetlb.{}.events", size))["max"],
          .limit = read_number(directory, fmt::format("hugetlb.{}.max", size)).value_or(0)};
  }
}

void read_v2_cpuset(const Directory& directory, Stats& stats) {
  CpusetStats cpuset{.cpus = read_number_list(directory, "cpuset.cpus.effective"),
                     .mems = read_number_list(directory, "cpuset.mems.effective"),
                     .settings = {}};
  if (!cpuset.cpus.empty()) stats.cpuset = std::move(cpuset);
}

}  // namespace

void read_stats_v2(const Directory& directory, Stats& stats) {
  if (!stats.cpu) read_v2_cpu(directory, stats);
  if (!stats.memory) read_v2_memory(directory, stats);
  if (!stats.pids) stats.pids = read_pids(directory);
  if (stats.block_io.empty()) read_io(directory, stats);
  if (stats.hugetlb.empty()) read_v2_hugetlb(directory, stats);
  if (!stats.cpuset) read_v2_cpuset(directory, stats);
  if (stats.rdma.empty()) stats.rdma = read_rdma(directory);
  // Only the unified hierarchy has pressure files, also on a host with both versions of cgroups.
  stats.cpu_pressure = read_pressure(directory, "cpu.pressure");
  stats.memory_pressure = read_pressure(directory, "memory.pressure");
  stats.io_pressure = read_pressure(directory, "io.pressure");
}

}  // namespace ocirun::cgroups
