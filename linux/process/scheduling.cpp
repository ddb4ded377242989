#include "linux/process/scheduling.hpp"

#include <linux/mempolicy.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "linux/base/name_table.hpp"

namespace ocirun::linux {
namespace {

constexpr std::uint32_t kSchedIso = 4;  // reserved in <linux/sched.h>: no mainline kernel takes it

constexpr Named<std::uint32_t> kPolicies[] = {
    {"SCHED_OTHER", SCHED_NORMAL},      {"SCHED_FIFO", SCHED_FIFO}, {"SCHED_RR", SCHED_RR},
    {"SCHED_BATCH", SCHED_BATCH},       {"SCHED_ISO", kSchedIso},   {"SCHED_IDLE", SCHED_IDLE},
    {"SCHED_DEADLINE", SCHED_DEADLINE},
};

constexpr Named<std::uint64_t> kSchedulerFlags[] = {
    {"SCHED_FLAG_RESET_ON_FORK", SCHED_FLAG_RESET_ON_FORK},
    {"SCHED_FLAG_RECLAIM", SCHED_FLAG_RECLAIM},
    {"SCHED_FLAG_DL_OVERRUN", SCHED_FLAG_DL_OVERRUN},
    {"SCHED_FLAG_KEEP_POLICY", SCHED_FLAG_KEEP_POLICY},
    {"SCHED_FLAG_KEEP_PARAMS", SCHED_FLAG_KEEP_PARAMS},
    {"SCHED_FLAG_UTIL_CLAMP_MIN", SCHED_FLAG_UTIL_CLAMP_MIN},
    {"SCHED_FLAG_UTIL_CLAMP_MAX", SCHED_FLAG_UTIL_CLAMP_MAX},
};

// From <linux/ioprio.h>, which C++ cannot include: one of its functions has a parameter called
// `class`.
constexpr int kWhoProcess = 1;             // IOPRIO_WHO_PROCESS
constexpr std::uint32_t kClassShift = 13;  // IOPRIO_CLASS_SHIFT
constexpr Named<std::uint32_t> kIoPriorityClasses[] = {
    {"IOPRIO_CLASS_RT", 1},
    {"IOPRIO_CLASS_BE", 2},
    {"IOPRIO_CLASS_IDLE", 3},
};

// struct sched_attr. <linux/sched/types.h> and glibc 2.36 cannot be included together.
struct SchedulerAttributes {
  std::uint32_t size = sizeof(SchedulerAttributes);
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
  std::uint32_t utilization_min = 0, utilization_max = 0;  // Linux 5.3; before, must be 0
};
static_assert(sizeof(SchedulerAttributes) == 56);

// One bit for each CPU. 8192 is the greatest NR_CPUS of any architecture.
using CpuMask = std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))>;

std::string_view scheduler_advice(const Scheduler& scheduler, int error) {
  if (error == EPERM && scheduler.policy == SCHED_DEADLINE)
    return " (needs CAP_SYS_NICE, and a CPU affinity that covers the whole cpuset)";
  if (error == EPERM)
    return " (needs CAP_SYS_NICE, or RLIMIT_NICE and RLIMIT_RTPRIO that allow it)";
  if (error == EBUSY) return " (the deadline bandwidth of the host's CPUs is used up)";
  if (error == EINVAL && scheduler.policy == kSchedIso)
    return " (no mainline kernel implements it)";
  if (error == EINVAL) return " (nice, priority, runtime, deadline, period or a flag does not fit)";
  if (error == EOPNOTSUPP) return " (the kernel was built without utilization clamping)";
  return "";
}

}  // namespace

std::optional<std::uint32_t> scheduler_policy(std::string_view name) {
  return value_of(kPolicies, name);
}
std::string_view scheduler_policy_name(std::uint32_t policy) { return name_of(kPolicies, policy); }
std::optional<std::uint64_t> scheduler_flag(std::string_view name) {
  return value_of(kSchedulerFlags, name);
}
std::vector<std::string_view> scheduler_policies() { return names_of(kPolicies); }
std::vector<std::string_view> scheduler_flags() { return names_of(kSchedulerFlags); }

Result<void> set_scheduler(const Scheduler& scheduler) {
  SchedulerAttributes attributes{.policy = scheduler.policy,
                                 .flags = scheduler.flags,
                                 .nice = scheduler.nice,
                                 .priority = scheduler.priority,
                                 .runtime = scheduler.runtime,
                                 .deadline = scheduler.deadline,
                                 .period = scheduler.period};
  if (::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0) return {};
  const int error = errno;
  return fail(error, "set scheduler {}{}", name_of(kPolicies, scheduler.policy),
              scheduler_advice(scheduler, error));
}

Result<Scheduler> scheduler_of(int pid) {
  SchedulerAttributes attributes{};
  if (::syscall(SYS_sched_getattr, pid, &attributes, sizeof attributes, 0) != 0)
    return fail(errno, "read the scheduler of process {}", pid);
  return Scheduler{.policy = attributes.policy,
                   .flags = attributes.flags,
                   .nice = attributes.nice,
                   .priority = attributes.priority,
                   .runtime = attributes.runtime,
                   .deadline = attributes.deadline,
                   .period = attributes.period};
}

std::optional<std::uint32_t> io_priority_class(std::string_view name) {
  return value_of(kIoPriorityClasses, name);
}
std::vector<std::string_view> io_priority_classes() { return names_of(kIoPriorityClasses); }

Result<void> set_io_priority(const IoPriority& priority) {
  // Sets the priority of the calling process alone; its children inherit the priority. The process
  // group may still contain the runtime's caller.
  const auto value =
      (priority.io_class << kClassShift) | static_cast<std::uint32_t>(priority.priority);
  if (::syscall(SYS_ioprio_set, kWhoProcess, 0, value) == 0) return {};
  const int error = errno;
  return fail(error, "set I/O priority {} of class {}{}", priority.priority,
              name_of(kIoPriorityClasses, priority.io_class),
              error == EPERM ? " (needs CAP_SYS_NICE or CAP_SYS_ADMIN)" : "");
}

Result<IoPriority> io_priority_of(int pid) {
  const long value = ::syscall(SYS_ioprio_get, kWhoProcess, pid);
  if (value < 0) return fail(errno, "read the I/O priority of process {}", pid);
  const auto bits = static_cast<std::uint32_t>(value);
  return IoPriority{.io_class = bits >> kClassShift,
                    .priority = bits & ((std::uint32_t{1} << kClassShift) - 1)};
}

Result<std::size_t> count_cpus() {
  CpuMask words{};
  auto* set = reinterpret_cast<cpu_set_t*>(words.data());
  if (::sched_getaffinity(0, sizeof words, set) != 0) return fail(errno, "count the CPUs");
  return static_cast<std::size_t>(CPU_COUNT_S(sizeof words, set));
}

Result<void> set_cpu_affinity(const NumberSet& cpus) {
  const auto& words = cpus.words();
  if (::syscall(SYS_sched_setaffinity, 0, words.size() * sizeof(words[0]), words.data()) == 0)
    return {};
  const int error = errno;
  return fail(error, "set CPU affinity{}",
              error == EINVAL ? " (none of these CPUs is online and in the cpuset)" : "");
}

Result<void> reset_cpu_affinity() {
  // The kernel ignores the bits of CPUs that do not exist or are not in the cpuset.
  CpuMask all;
  all.fill(~0UL);
  if (::syscall(SYS_sched_setaffinity, 0, sizeof all, all.data()) == 0) return {};
  return fail(errno, "reset CPU affinity");
}

Result<void> set_personality(unsigned long domain) {
  if (::personality(domain) != -1) return {};
  return fail(errno, "set personality {}", domain == PER_LINUX32 ? "LINUX32" : "LINUX");
}

namespace {

constexpr int kWeightedInterleave = 6;  // Linux 6.9

constexpr Named<int> kModes[] = {
    {"MPOL_DEFAULT", MPOL_DEFAULT},
    {"MPOL_BIND", MPOL_BIND},
    {"MPOL_INTERLEAVE", MPOL_INTERLEAVE},
    {"MPOL_WEIGHTED_INTERLEAVE", kWeightedInterleave},
    {"MPOL_PREFERRED", MPOL_PREFERRED},
    {"MPOL_PREFERRED_MANY", MPOL_PREFERRED_MANY},  // Linux 5.15
    {"MPOL_LOCAL", MPOL_LOCAL},
};

constexpr Named<unsigned> kFlags[] = {
    {"MPOL_F_NUMA_BALANCING", MPOL_F_NUMA_BALANCING},  // Linux 5.12
    {"MPOL_F_RELATIVE_NODES", MPOL_F_RELATIVE_NODES},
    {"MPOL_F_STATIC_NODES", MPOL_F_STATIC_NODES},
};

std::string_view memory_policy_advice(int error) {
  if (error == ENOSYS) return " (the kernel was built without NUMA)";
  if (error == EINVAL)
    return " (no node of the list is online and in the cpuset, mode and flags do not go together,"
           " or the kernel is too old for them)";
  return "";
}

}  // namespace

std::optional<int> memory_policy_mode(std::string_view name) { return value_of(kModes, name); }
std::optional<unsigned> memory_policy_flag(std::string_view name) { return value_of(kFlags, name); }
std::vector<std::string_view> memory_policy_modes() { return names_of(kModes); }
std::vector<std::string_view> memory_policy_flags() { return names_of(kFlags); }

Result<void> set_memory_policy(const MemoryPolicy& policy) {
  const auto& words = policy.nodes.words();
  const unsigned long* mask = words.empty() ? nullptr : words.data();
  // The maxnode argument of set_mempolicy(2) is the number of bits plus one.
  const unsigned long bits = words.empty() ? 0 : words.size() * sizeof(words[0]) * 8 + 1;
  const unsigned mode = static_cast<unsigned>(policy.mode) | policy.flags;
  if (::syscall(SYS_set_mempolicy, mode, mask, bits) == 0) return {};
  const int error = errno;
  return fail(error, "set memory policy {}{}", name_of(kModes, policy.mode),
              memory_policy_advice(error));
}

}  // namespace ocirun::linux
