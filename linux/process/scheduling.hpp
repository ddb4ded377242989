#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/number_set.hpp"

namespace ocirun::linux {

/// process.scheduler (P-15), for sched_setattr(2).
struct Scheduler {
  std::uint32_t policy = 0;  // SCHED_*
  std::uint64_t flags = 0;   // SCHED_FLAG_*
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0, deadline = 0, period = 0;  // ns
};
std::optional<std::uint32_t> scheduler_policy(std::string_view name);  // "SCHED_FIFO" …
std::string_view scheduler_policy_name(std::uint32_t policy);
std::optional<std::uint64_t> scheduler_flag(std::string_view name);  // "SCHED_FLAG_RESET_ON_FORK" …
std::vector<std::string_view> scheduler_policies();
std::vector<std::string_view> scheduler_flags();
/// Calls sched_setattr(2) for the caller. Errors say which capability or limit is missing.
Result<void> set_scheduler(const Scheduler& scheduler);
/// What sched_getattr(2) says of a process. Errors: ESRCH.
Result<Scheduler> scheduler_of(int pid);

/// process.ioPriority (P-17).
struct IoPriority {
  std::uint32_t io_class = 0;  // IOPRIO_CLASS_*
  std::uint32_t priority = 0;  // 0 … 7
};
std::optional<std::uint32_t> io_priority_class(std::string_view name);  // "IOPRIO_CLASS_BE" …
std::vector<std::string_view> io_priority_classes();
/// Calls ioprio_set(2) for the calling process; its later children inherit the priority.
Result<void> set_io_priority(const IoPriority& priority);
/// What ioprio_get(2) says of a process; class 0: none was set. Errors: ESRCH.
Result<IoPriority> io_priority_of(int pid);

/// The number of CPUs that the caller may use, by sched_getaffinity(2): at least 1. Errors: EINVAL
/// on a kernel that is built for more than 8192 CPUs.
Result<std::size_t> count_cpus();
/// Calls sched_setaffinity(2) for the caller.
Result<void> set_cpu_affinity(const NumberSet& cpus);
/// Replaces an inherited affinity by all CPUs that the cpuset allows.
Result<void> reset_cpu_affinity();

/// linux.memoryPolicy (L-37), for set_mempolicy(2).
struct MemoryPolicy {
  int mode = 0;        // MPOL_*
  unsigned flags = 0;  // MPOL_F_*
  NumberSet nodes;
};
std::optional<int> memory_policy_mode(std::string_view name);
std::optional<unsigned> memory_policy_flag(std::string_view name);
std::vector<std::string_view> memory_policy_modes();
std::vector<std::string_view> memory_policy_flags();
Result<void> set_memory_policy(const MemoryPolicy& policy);

/// Calls personality(2) with linux.personality.domain (L-36): PER_LINUX or PER_LINUX32.
Result<void> set_personality(unsigned long domain);

}  // namespace ocirun::linux
