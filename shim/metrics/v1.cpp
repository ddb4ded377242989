#include <vector>

#include "shim/metrics/metrics.hpp"
#include "shim/metrics/parts.hpp"

namespace ocirun::shim {
namespace {

Metrics__V1__Cpu* add_v1_cpu(Parts& parts, const cgroups::CpuStats& stats) {
  auto& cpu = parts.add<Metrics__V1__Cpu>();
  auto& usage = parts.add<Metrics__V1__CpuUsage>();
  usage.total = stats.total_ns;
  usage.kernel = stats.system_ns;
  usage.user = stats.user_ns;
  usage.n_per_cpu = stats.per_cpu_ns.size();
  // The cast is safe: packing reads the numbers.
  usage.per_cpu = const_cast<std::uint64_t*>(stats.per_cpu_ns.data());
  cpu.usage = &usage;
  cpu.throttling = &parts.add<Metrics__V1__Throttling>();
  cpu.throttling->periods = stats.periods;
  cpu.throttling->throttled_periods = stats.throttled_periods;
  cpu.throttling->throttled_time = stats.throttled_ns;
  return &cpu;
}

Metrics__V1__Usage* add_usage(Parts& parts, const cgroups::MemoryUsage& stats) {
  auto& usage = parts.add<Metrics__V1__Usage>();
  usage.limit = stats.limit;
  usage.usage = stats.usage;
  usage.max = stats.max_usage;
  usage.failcnt = stats.fail_count;
  return &usage;
}

Metrics__V1__Memory* add_v1_memory(Parts& parts, const cgroups::MemoryStats& stats) {
  auto& memory = parts.add<Metrics__V1__Memory>();
  fill_by_name(memory, stats.raw);
  memory.usage = add_usage(parts, stats.memory);
  memory.swap = add_usage(parts, stats.swap.value_or(cgroups::MemoryUsage()));
  memory.kernel = add_usage(parts, stats.kernel.value_or(cgroups::MemoryUsage()));
  memory.kernel_tcp = add_usage(parts, stats.kernel_tcp.value_or(cgroups::MemoryUsage()));
  return &memory;
}

struct BlockIoList {
  const char* name;  // in cgroups::Stats
  std::size_t Metrics__V1__BlockIo::* count;
  Metrics__V1__BlockIoEntry** Metrics__V1__BlockIo::* entries;
};
constexpr BlockIoList kBlockIoLists[] = {
    {"ioServiceBytesRecursive", &Metrics__V1__BlockIo::n_service_bytes,
     &Metrics__V1__BlockIo::service_bytes},
    {"ioServicedRecursive", &Metrics__V1__BlockIo::n_serviced, &Metrics__V1__BlockIo::serviced},
    {"ioQueueRecursive", &Metrics__V1__BlockIo::n_queued, &Metrics__V1__BlockIo::queued},
    {"ioServiceTimeRecursive", &Metrics__V1__BlockIo::n_service_time,
     &Metrics__V1__BlockIo::service_time},
    {"ioWaitTimeRecursive", &Metrics__V1__BlockIo::n_wait_time, &Metrics__V1__BlockIo::wait_time},
    {"ioMergedRecursive", &Metrics__V1__BlockIo::n_merged, &Metrics__V1__BlockIo::merged},
    {"ioTimeRecursive", &Metrics__V1__BlockIo::n_time, &Metrics__V1__BlockIo::time},
    {"sectorsRecursive", &Metrics__V1__BlockIo::n_sectors, &Metrics__V1__BlockIo::sectors},
};

Metrics__V1__BlockIo* add_block_io(
    Parts& parts, const std::map<std::string, std::vector<cgroups::BlockIoEntry>>& stats) {
  auto& block_io = parts.add<Metrics__V1__BlockIo>();
  for (const BlockIoList& list : kBlockIoLists) {
    const auto found = stats.find(list.name);
    if (found == stats.end()) continue;
    parts.add_list(block_io.*list.count, block_io.*list.entries, found->second,
                   [](auto& entry, const cgroups::BlockIoEntry& of_kernel) {
                     entry.operation = in_message(of_kernel.operation);
                     entry.major = of_kernel.major;
                     entry.minor = of_kernel.minor;
                     entry.value = of_kernel.value;
                   });
  }
  return &block_io;
}

}  // namespace

PackedMetrics pack_v1(const cgroups::Stats& stats) {
  Parts parts;
  auto metrics = new_message<Metrics__V1>();
  if (stats.cpu) metrics.cpu = add_v1_cpu(parts, *stats.cpu);
  if (stats.memory) {
    metrics.memory = add_v1_memory(parts, *stats.memory);
    metrics.oom_control = &parts.add<Metrics__V1__OomControl>();
    fill_by_name(*metrics.oom_control, stats.memory->events);
  }
  if (stats.pids) metrics.pids = add_pids(parts, *stats.pids, 0);
  metrics.block_io = add_block_io(parts, stats.block_io);
  if (!stats.rdma.empty()) metrics.rdma = add_rdma(parts, stats.rdma);
  parts.add_list(metrics.n_hugetlb, metrics.hugetlb, stats.hugetlb,
                 [](auto& entry, const auto& pages) {
                   entry.page_size = in_message(pages.first);
                   entry.usage = pages.second.usage;
                   entry.max = pages.second.max_usage;
                   entry.failcnt = pages.second.fail_count;
                 });
  return {.type_url = "io.containerd.cgroups.v1.Metrics", .value = bytes_of(metrics)};
}

}  // namespace ocirun::shim
