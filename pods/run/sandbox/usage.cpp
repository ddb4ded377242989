#include "pods/run/sandbox/usage.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cgroups/statistics/stats.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/run/sandbox/holder.hpp"
#include "pods/run/sandbox/pod_cgroup.hpp"

namespace ocirun::pods {
namespace {

using cgroups::Stats;

std::optional<std::uint64_t> limit_of(const Stats& stats) {
  if (!stats.memory || cgroups::is_unlimited(stats.memory->memory.limit)) return std::nullopt;
  return stats.memory->memory.limit;
}

std::optional<std::uint64_t> smaller(std::optional<std::uint64_t> a,
                                     std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

void take_memory(const cgroups::MemoryStats& memory, Usage& usage) {
  usage.memory = memory.memory.usage;
  std::uint64_t inactive = 0;
  for (const char* name : {"total_inactive_file", "inactive_file"})  // of v1, of both
    if (const auto file = memory.raw.find(name); file != memory.raw.end()) {
      inactive = file->second;
      break;
    }
  usage.working_set = *usage.memory - std::min(inactive, *usage.memory);
  if (memory.memory.max_usage != 0) usage.memory_peak = memory.memory.max_usage;
}

void take_block_io(const Stats& stats, Usage& usage) {
  const auto entries = stats.block_io.find("ioServiceBytesRecursive");
  if (entries == stats.block_io.end()) return;
  usage.block_read = usage.block_written = 0;
  for (const cgroups::BlockIoEntry& entry : entries->second) {
    if (entry.operation == "Read") *usage.block_read += entry.value;
    if (entry.operation == "Write") *usage.block_written += entry.value;
  }
}

}  // namespace

Usage read_cgroup_usage(const std::string& path, const std::string& pod_path) {
  Usage usage;
  const auto stats = path.empty() ? Result<Stats>() : read_cgroup_stats(path);
  usage.at = std::chrono::steady_clock::now();
  if (!stats) return usage;
  if (stats->cpu) usage.cpu_ns = stats->cpu->total_ns;
  if (stats->memory) take_memory(*stats->memory, usage);
  usage.memory_limit = limit_of(*stats);
  if (!pod_path.empty())
    if (const auto around = read_cgroup_stats(pod_path); around)
      usage.memory_limit = smaller(usage.memory_limit, limit_of(*around));
  if (stats->pids) {
    usage.pids = stats->pids->current;
    usage.pids_limit = stats->pids->limit;
  }
  take_block_io(*stats, usage);
  return usage;
}

NetworkBytes parse_network_bytes(std::string_view text) {
  // "  eth0: RECEIVED-BYTES and 7 more numbers SENT-BYTES and 7 more numbers", below two lines of
  // titles, which have no colon.
  constexpr std::size_t kReceived = 0, kSent = 8;
  NetworkBytes sum;
  for (const std::string_view line : linux::words(text, '\n')) {
    const std::size_t colon = line.rfind(':');
    if (colon == std::string_view::npos) continue;
    const auto name = linux::words(line.substr(0, colon));
    const auto numbers = linux::words(line.substr(colon + 1));
    if (name.size() != 1 || name.front() == "lo" || numbers.size() <= kSent) continue;
    sum.received += linux::number(numbers[kReceived]).value_or(0);
    sum.sent += linux::number(numbers[kSent]).value_or(0);
  }
  return sum;
}

std::optional<NetworkBytes> read_network_bytes(const linux::Procfs& procfs, int pid) {
  const auto own = linux::sys::open(namespace_path(0, "net").c_str(), O_RDONLY);
  const auto other = linux::sys::open(namespace_path(pid, "net").c_str(), O_RDONLY);
  if (!own || !other || linux::sys::is_same_file(*own, *other).value_or(true)) return std::nullopt;
  const auto text = procfs.read(fmt::format("{}/net/dev", pid));
  if (!text) return std::nullopt;
  return parse_network_bytes(*text);
}

std::optional<std::uint64_t> cpu_hundredths(const Usage& before, const Usage& now) {
  constexpr std::uint64_t kWhole = 10'000;
  if (!before.cpu_ns || !now.cpu_ns || *now.cpu_ns < *before.cpu_ns || now.at <= before.at)
    return std::nullopt;
  const auto passed = std::chrono::duration_cast<std::chrono::nanoseconds>(now.at - before.at);
  if (passed.count() == 0) return std::nullopt;
  const double share =
      static_cast<double>(*now.cpu_ns - *before.cpu_ns) / static_cast<double>(passed.count());
  return static_cast<std::uint64_t>(std::llround(share * static_cast<double>(kWhole)));
}

}  // namespace ocirun::pods
