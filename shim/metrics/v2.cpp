#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "shim/metrics/metrics.hpp"
#include "shim/metrics/parts.hpp"

namespace ocirun::shim {
namespace {

constexpr std::uint64_t kNsPerUs = 1000;

Metrics__V2__PressureLine* add_pressure_line(Parts& parts, const cgroups::PressureLine& stats) {
  constexpr double kHundredths = 100;
  auto& line = parts.add<Metrics__V2__PressureLine>();
  line.avg10 = static_cast<double>(stats.avg10) / kHundredths;
  line.avg60 = static_cast<double>(stats.avg60) / kHundredths;
  line.avg300 = static_cast<double>(stats.avg300) / kHundredths;
  line.total = stats.total_us;
  return &line;
}

/// Returns nullptr if the kernel tells no pressure.
Metrics__V2__Pressure* add_pressure(Parts& parts, const std::optional<cgroups::Pressure>& stats) {
  if (!stats) return nullptr;
  auto& pressure = parts.add<Metrics__V2__Pressure>();
  pressure.some = add_pressure_line(parts, stats->some);
  pressure.full = add_pressure_line(parts, stats->full);
  return &pressure;
}

Metrics__V2__Cpu* add_v2_cpu(Parts& parts, const cgroups::CpuStats& stats) {
  auto& cpu = parts.add<Metrics__V2__Cpu>();
  cpu.usage_usec = stats.total_ns / kNsPerUs;
  cpu.user_usec = stats.user_ns / kNsPerUs;
  cpu.system_usec = stats.system_ns / kNsPerUs;
  cpu.nr_periods = stats.periods;
  cpu.nr_throttled = stats.throttled_periods;
  cpu.throttled_usec = stats.throttled_ns / kNsPerUs;
  cpu.nr_bursts = stats.bursts;
  cpu.burst_usec = stats.burst_ns / kNsPerUs;
  return &cpu;
}

Metrics__V2__Memory* add_v2_memory(Parts& parts, const cgroups::MemoryStats& stats) {
  auto& memory = parts.add<Metrics__V2__Memory>();
  fill_by_name(memory, stats.raw);
  memory.usage = stats.memory.usage;
  memory.usage_limit = stats.memory.limit;
  memory.max_usage = stats.memory.max_usage;
  const cgroups::MemoryUsage swap = stats.swap_alone.value_or(cgroups::MemoryUsage());
  memory.swap_usage = swap.usage;
  memory.swap_limit = swap.limit;
  memory.swap_max_usage = swap.max_usage;
  return &memory;
}

struct IoNumber {
  const char* name;  // in cgroups::Stats
  const char* operation;
  std::uint64_t Metrics__V2__IoEntry::* number;
};
constexpr IoNumber kIoNumbers[] = {
    {"ioServiceBytesRecursive", "Read", &Metrics__V2__IoEntry::rbytes},
    {"ioServiceBytesRecursive", "Write", &Metrics__V2__IoEntry::wbytes},
    {"ioServicedRecursive", "Read", &Metrics__V2__IoEntry::rios},
    {"ioServicedRecursive", "Write", &Metrics__V2__IoEntry::wios},
};

/// One entry for each device.
Metrics__V2__Io* add_io(Parts& parts,
                        const std::map<std::string, std::vector<cgroups::BlockIoEntry>>& stats) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, Metrics__V2__IoEntry> devices;
  for (const IoNumber& row : kIoNumbers) {
    const auto found = stats.find(row.name);
    if (found == stats.end()) continue;
    for (const cgroups::BlockIoEntry& entry : found->second) {
      if (entry.operation != row.operation) continue;
      const auto [device, is_new] =
          devices.try_emplace({entry.major, entry.minor}, new_message<Metrics__V2__IoEntry>());
      device->second.*row.number = entry.value;
    }
  }
  auto& io = parts.add<Metrics__V2__Io>();
  parts.add_list(io.n_usage, io.usage, devices, [](auto& entry, const auto& device) {
    entry = device.second;
    entry.major = device.first.first;
    entry.minor = device.first.second;
  });
  return &io;
}

}  // namespace

PackedMetrics pack_v2(const cgroups::Stats& stats) {
  Parts parts;
  auto metrics = new_message<Metrics__V2>();
  if (stats.cpu) {
    metrics.cpu = add_v2_cpu(parts, *stats.cpu);
    metrics.cpu->pressure = add_pressure(parts, stats.cpu_pressure);
  }
  if (stats.memory) {
    metrics.memory = add_v2_memory(parts, *stats.memory);
    metrics.memory->pressure = add_pressure(parts, stats.memory_pressure);
    metrics.memory_events = &parts.add<Metrics__V2__MemoryEvents>();
    fill_by_name(*metrics.memory_events, stats.memory->events);
  }
  if (stats.pids)
    metrics.pids = add_pids(parts, *stats.pids, std::numeric_limits<std::uint64_t>::max());
  metrics.io = add_io(parts, stats.block_io);
  metrics.io->pressure = add_pressure(parts, stats.io_pressure);
  if (!stats.rdma.empty()) metrics.rdma = add_rdma(parts, stats.rdma);
  parts.add_list(metrics.n_hugetlb, metrics.hugetlb, stats.hugetlb,
                 [](auto& entry, const auto& pages) {
                   entry.page_size = in_message(pages.first);
                   entry.current = pages.second.usage;
                   entry.max = pages.second.limit;
                   entry.failcnt = pages.second.fail_count;
                 });
  return {.type_url = "io.containerd.cgroups.v2.Metrics", .value = bytes_of(metrics)};
}

}  // namespace ocirun::shim
