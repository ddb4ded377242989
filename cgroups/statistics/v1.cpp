#include <unistd.h>

#include <algorithm>

#include "cgroups/hierarchies/text.hpp"
#include "cgroups/statistics/read.hpp"

namespace ocirun::cgroups {
namespace {

CpuStats& cpu_of(Stats& stats) {
  if (!stats.cpu) stats.cpu.emplace();
  return *stats.cpu;
}

void read_cpuacct(const Directory& directory, Stats& stats) {
  CpuStats& cpu = cpu_of(stats);
  cpu.total_ns = read_number(directory, "cpuacct.usage").value_or(0);
  const std::string per_cpu = directory.read_or_empty("cpuacct.usage_percpu");
  for (const std::string_view word : words(per_cpu))
    cpu.per_cpu_ns.push_back(number(word).value_or(0));
  // The file begins with "cpu user system". A line for each CPU follows.
  const std::string all = directory.read_or_empty("cpuacct.usage_all");
  for (const std::string_view line : words(all, '\n')) {
    const auto columns = words(line);
    if (columns.size() < 3 || !number(columns[0])) continue;
    cpu.per_cpu_user_ns.push_back(number(columns[1]).value_or(0));
    cpu.per_cpu_system_ns.push_back(number(columns[2]).value_or(0));
  }
  const auto user = read_number(directory, "cpuacct.usage_user");  // since Linux 4.7
  const auto system = read_number(directory, "cpuacct.usage_sys");
  if (user && system) {
    cpu.user_ns = *user;
    cpu.system_ns = *system;
    return;
  }
  const auto ticks = read_table(directory, "cpuacct.stat");
  const std::uint64_t tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  if (ticks.contains("user")) cpu.user_ns = ticks.at("user") * tick_ns;
  if (ticks.contains("system")) cpu.system_ns = ticks.at("system") * tick_ns;
}

void read_v1_cpu(const Directory& directory, Stats& stats) {
  CpuStats& cpu = cpu_of(stats);
  auto table = read_table(directory, "cpu.stat");
  cpu.periods = table["nr_periods"];
  cpu.throttled_periods = table["nr_throttled"];
  cpu.throttled_ns = table["throttled_time"];
}

/// `prefix` is "memory", "memory.memsw", "memory.kmem" or "memory.kmem.tcp".
std::optional<MemoryUsage> read_usage(const Directory& directory, const std::string& prefix) {
  const auto usage = read_number(directory, prefix + ".usage_in_bytes");
  if (!usage) return std::nullopt;
  MemoryUsage memory;
  memory.usage = *usage;
  memory.max_usage = read_number(directory, prefix + ".max_usage_in_bytes").value_or(0);
  memory.fail_count = read_number(directory, prefix + ".failcnt").value_or(0);
  memory.limit = read_number(directory, prefix + ".limit_in_bytes").value_or(0);
  return memory;
}

void read_v1_memory(const Directory& directory, Stats& stats) {
  const auto usage = read_usage(directory, "memory");
  if (!usage) return;
  MemoryStats& memory = stats.memory.emplace();
  memory.memory = *usage;
  memory.swap = read_usage(directory, "memory.memsw");
  memory.kernel = read_usage(directory, "memory.kmem");
  memory.kernel_tcp = read_usage(directory, "memory.kmem.tcp");
  memory.raw = read_table(directory, "memory.stat");
  if (const auto cache = memory.raw.find("cache"); cache != memory.raw.end())
    memory.cache = cache->second;
  memory.events = read_table(directory, "memory.oom_control");
  if (const auto kills = memory.events.find("oom_kill"); kills != memory.events.end())
    memory.oom_kills = kills->second;  // since Linux 4.13
}

/// Reads lines "MAJOR:MINOR OPERATION NUMBER" or "MAJOR:MINOR NUMBER". The line "Total NUMBER" at
/// the end of the file is skipped.
std::vector<BlockIoEntry> read_block_io_file(const Directory& directory, const std::string& file) {
  std::vector<BlockIoEntry> entries;
  const std::string text = directory.read_or_empty(file);
  for (const std::string_view line : words(text, '\n')) {
    const auto columns = words(line);
    const auto device = split(columns[0], ':');
    if (device.size() != 2 || columns.size() < 2 || columns.size() > 3) continue;
    const auto major = number(device[0]), minor = number(device[1]), value = number(columns.back());
    if (major && minor && value)
      entries.push_back({.major = *major,
                         .minor = *minor,
                         .operation = columns.size() == 3 ? std::string(columns[1]) : "",
                         .value = *value});
  }
  return entries;
}

struct BlockIoRow {
  const char* name;  // the key in the output of "runc events"
  const char* file;  // the part of the file name after "blkio." and the scheduler's name
};
constexpr BlockIoRow kBlockIoRows[] = {
    {"ioServiceBytesRecursive", "io_service_bytes_recursive"},
    {"ioServicedRecursive", "io_serviced_recursive"},
    {"ioQueueRecursive", "io_queued_recursive"},
    {"ioServiceTimeRecursive", "io_service_time_recursive"},
    {"ioWaitTimeRecursive", "io_wait_time_recursive"},
    {"ioMergedRecursive", "io_merged_recursive"},
    {"ioTimeRecursive", "time_recursive"},
    {"sectorsRecursive", "sectors_recursive"},
};

void read_block_io(const Directory& directory, Stats& stats) {
  for (const BlockIoRow& row : kBlockIoRows)
    // The bfq files count the I/O of BFQ. The files without a prefix count the I/O of CFQ (before
    // Linux 5.0). The throttle files count all I/O.
    for (const char* scheduler : {"bfq.", "", "throttle."}) {
      auto entries = read_block_io_file(directory, fmt::format("blkio.{}{}", scheduler, row.file));
      if (entries.empty()) continue;
      stats.block_io[row.name] = std::move(entries);
      break;
    }
}

void read_v1_hugetlb(const Directory& directory, Stats& stats) {
  for (const std::string& size : hugetlb_page_sizes(directory)) {
    const auto read = [&](const char* suffix) {
      return read_number(directory, fmt::format("hugetlb.{}.{}", size, suffix)).value_or(0);
    };
    stats.hugetlb[size] = {.usage = read("usage_in_bytes"),
                           .max_usage = read("max_usage_in_bytes"),
                           .fail_count = read("failcnt"),
                           .limit = read("limit_in_bytes")};
  }
}

void read_v1_cpuset(const Directory& directory, Stats& stats) {
  constexpr const char* kSettings[] = {
      "cpu_exclusive",   "mem_hardwall",       "mem_exclusive",
      "memory_migrate",  "memory_spread_page", "memory_spread_slab",
      "memory_pressure", "sched_load_balance", "sched_relax_domain_level"};
  CpusetStats& cpuset = stats.cpuset.emplace();
  cpuset.cpus = read_number_list(directory, "cpuset.cpus");
  cpuset.mems = read_number_list(directory, "cpuset.mems");
  for (const char* name : kSettings) {
    const std::string text = directory.read_or_empty(fmt::format("cpuset.{}", name));
    if (const auto value = number(text))
      cpuset.settings[name] = static_cast<std::int64_t>(*value);
    else if (text == "-1")  // sched_relax_domain_level: -1 is the system's default
      cpuset.settings[name] = -1;
  }
}

void read_v1_pids(const Directory& directory, Stats& stats) { stats.pids = read_pids(directory); }
void read_v1_rdma(const Directory& directory, Stats& stats) { stats.rdma = read_rdma(directory); }

struct Reader {
  const char* controller;
  void (*read)(const Directory&, Stats&);
};
constexpr Reader kReaders[] = {
    {"cpuacct", read_cpuacct},    {"cpu", read_v1_cpu},   {"cpuset", read_v1_cpuset},
    {"memory", read_v1_memory},   {"pids", read_v1_pids}, {"blkio", read_block_io},
    {"hugetlb", read_v1_hugetlb}, {"rdma", read_v1_rdma},
};

}  // namespace

void read_stats_v1(const Node& node, const Directory& directory, Stats& stats) {
  for (const Reader& reader : kReaders)
    if (node.has(reader.controller)) reader.read(directory, stats);
}

}  // namespace ocirun::cgroups
