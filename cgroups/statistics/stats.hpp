#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ocirun::cgroups {

/// The statistics of one container's cgroup. Statistics that the kernel of the host does not
/// provide are absent.

/// Pressure stall information. The averages are in hundredths of a percent, the total in
/// microseconds.
struct PressureLine {
  std::uint64_t avg10 = 0, avg60 = 0, avg300 = 0, total_us = 0;
};
struct Pressure {
  PressureLine some, full;
};

struct CpuStats {
  std::uint64_t total_ns = 0, user_ns = 0, system_ns = 0;
  std::vector<std::uint64_t> per_cpu_ns = {}, per_cpu_system_ns = {}, per_cpu_user_ns = {};
  std::uint64_t periods = 0, throttled_periods = 0, throttled_ns = 0;
  std::uint64_t bursts = 0, burst_ns = 0;  // v2 alone, since Linux 5.16
};
struct CpusetStats {
  std::vector<std::uint16_t> cpus, mems;  // the CPUs and memory nodes that the processes may use
  // v1's own flags and numbers, by file name without "cpuset." ("cpu_exclusive"). v2 has none.
  std::map<std::string, std::int64_t> settings;
};
struct MemoryUsage {
  std::uint64_t usage = 0, max_usage = 0, fail_count = 0,
                limit = 0;  // bytes
};
/// Whether a limit of MemoryUsage means "unlimited": v1 then reports the largest number of whole
/// pages below 2^63, v2 "max", which is read as 2^64-1.
constexpr bool is_unlimited(std::uint64_t bytes) { return bytes > std::uint64_t{1} << 62; }
struct MemoryStats {
  MemoryUsage memory;
  std::optional<MemoryUsage> swap, kernel, kernel_tcp;  // swap: memory and swap together
  std::optional<MemoryUsage> swap_alone;                // v2 alone
  std::uint64_t cache = 0;
  std::map<std::string, std::uint64_t> raw;     // memory.stat
  std::map<std::string, std::uint64_t> events;  // memory.events; v1: memory.oom_control
  std::uint64_t oom_kills = 0;
};
struct PidsStats {
  std::uint64_t current = 0;
  std::optional<std::uint64_t> limit;  // absent: unlimited
};
struct BlockIoEntry {
  std::uint64_t major = 0, minor = 0;
  std::string operation;
  std::uint64_t value = 0;
};
struct HugetlbStats {
  std::uint64_t usage = 0, max_usage = 0, fail_count = 0, limit = 0;  // bytes
};
struct RdmaStats {  // 2^32-1: unlimited
  std::uint32_t handles = 0, objects = 0, handle_limit = 0, object_limit = 0;
};

struct Stats {
  std::optional<CpuStats> cpu;
  std::optional<CpusetStats> cpuset;
  std::optional<MemoryStats> memory;
  std::optional<PidsStats> pids;
  std::map<std::string, std::vector<BlockIoEntry>>
      block_io;                                 // by runc's names: "ioServiceBytesRecursive" …
  std::map<std::string, HugetlbStats> hugetlb;  // by page size
  std::map<std::string, RdmaStats> rdma;        // by device
  std::optional<Pressure> cpu_pressure, memory_pressure, io_pressure;
};

}  // namespace ocirun::cgroups
