#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ocirun::cgroups {

/// Readings of one container's cgroup; what the host's kernel does not give is absent.
struct CpuStats {
  std::uint64_t total_ns = 0, user_ns = 0, system_ns = 0;
  std::vector<std::uint64_t> per_cpu_ns;
  std::uint64_t periods = 0, throttled_periods = 0, throttled_ns = 0;
};
struct MemoryUsage {
  std::uint64_t usage = 0, max_usage = 0, fail_count = 0,
                limit = 0;  // bytes; limit 2^64-1: unlimited
};
struct MemoryStats {
  MemoryUsage memory;
  std::optional<MemoryUsage> swap, kernel, kernel_tcp;
  std::uint64_t cache = 0;
  std::map<std::string, std::uint64_t> raw;  // memory.stat
  std::uint64_t oom_kills = 0;
};
struct PidsStats {
  std::uint64_t current = 0;
  std::uint64_t limit = 0;  // 0: unlimited
};
struct BlockIoEntry {
  std::uint64_t major = 0, minor = 0;
  std::string operation;
  std::uint64_t value = 0;
};
struct HugetlbStats {
  std::uint64_t usage = 0, max_usage = 0, fail_count = 0;
};

struct Stats {
  std::optional<CpuStats> cpu;
  std::optional<MemoryStats> memory;
  std::optional<PidsStats> pids;
  std::map<std::string, std::vector<BlockIoEntry>>
      block_io;                                 // by runc's name: "ioServiceBytesRecursive" …
  std::map<std::string, HugetlbStats> hugetlb;  // by page size
};

}  // namespace ocirun::cgroups
