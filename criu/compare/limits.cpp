#include "criu/compare/limits.hpp"

#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "criu/compare/thread.hpp"
#include "linux/base/text.hpp"
#include "linux/process/rlimits.hpp"
#include "linux/process/scheduling.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::uint32_t kFifo = 1, kRoundRobin = 2, kDeadline = 6;  // SCHED_*

bool is_real_time(std::uint32_t policy) {
  return policy == kFifo || policy == kRoundRobin || policy == kDeadline;
}

// Whether a process of the container may have the capability over the host. A capability that is
// only valid in a user namespace does not let a process change the values compared here.
bool has_on_host(const bundle::Config& config, unsigned capability) {
  return !config.namespaces.contains(linux::NamespaceKind::kUser) &&
         has_in_bounding_set(config, capability);
}

Result<std::uint64_t> hard_limit(int pid, int resource) {
  rlimit64 now{};
  if (::prlimit64(pid, static_cast<__rlimit_resource>(resource), nullptr, &now) != 0)
    return fail(errno, "read {}", linux::rlimit_name(resource));
  return now.rlim_max;
}

// Returns the hard limit in config.json. Without an entry in config.json, the container has
// inherited the limit of the caller of `create`, and the limit of this process is the best guess.
std::uint64_t limit_of(const bundle::Config& config, int resource) {
  const auto& limits = config.process->rlimits;
  const auto named = std::ranges::find(limits, resource, &linux::Rlimit::resource);
  return named != limits.end() ? named->hard : hard_limit(0, resource).value_or(0);
}

Result<void> compare_rlimits(const bundle::Config& config, int pid) {
  for (std::size_t i = 0; i < config.process->rlimits.size(); ++i) {
    const linux::Rlimit& limit = config.process->rlimits[i];
    OCIRUN_TRY_ASSIGN(const std::uint64_t hard, hard_limit(pid, limit.resource));
    if (hard > limit.hard)
      return refuse("has a hard limit {} of {}: /process/rlimits/{} gives {}",
                    linux::rlimit_name(limit.resource), linux::rlimit_text(hard), i,
                    linux::rlimit_text(limit.hard));
  }
  return {};
}

Result<int> oom_score_of(const linux::Procfs& procfs, std::string_view process) {
  OCIRUN_TRY_ASSIGN(const std::string text, procfs.read(fmt::format("{}/oom_score_adj", process)));
  std::string_view rest = text;
  const auto score = linux::number<int>(linux::cut(rest, '\n'));
  return score ? Result<int>(*score)
               : refuse("the kernel does not tell the OOM score of a process");
}

Result<void> compare_oom_score(const bundle::Config& config, const linux::Procfs& procfs, int pid) {
  OCIRUN_TRY_ASSIGN(const int own, oom_score_of(procfs, "self"));
  const int least = config.process->oom_score_adj.value_or(std::min(own, 0));
  OCIRUN_TRY_ASSIGN(const int found, oom_score_of(procfs, fmt::format("{}", pid)));
  if (found >= least) return {};
  if (!config.process->oom_score_adj)
    return refuse(
        "has an OOM score of {}: without /process/oomScoreAdj it must not be below 0 or below that "
        "of ocirun's caller, {}",
        found, own);
  return refuse(
      "has an OOM score of {}: /process/oomScoreAdj is {}, which a process without "
      "CAP_SYS_RESOURCE can only raise",
      found, least);
}

}  // namespace

std::uint64_t highest_priority(const bundle::Config& config, std::uint32_t policy) {
  constexpr std::uint64_t kHighest = 99;
  if (!is_real_time(policy)) return 0;
  if (has_on_host(config, CAP_SYS_NICE)) return kHighest;
  const auto& scheduler = config.process->scheduler;
  const bool is_of_document = scheduler && scheduler->policy == policy;
  if (policy == kDeadline) return is_of_document ? kHighest : 0;
  return std::max(is_of_document ? std::uint64_t{scheduler->priority} : 0,
                  std::min(limit_of(config, RLIMIT_RTPRIO), kHighest));
}

int lowest_nice(const bundle::Config& config) {
  constexpr int kLowest = -20;
  if (has_on_host(config, CAP_SYS_NICE)) return kLowest;
  const int own = ::getpriority(PRIO_PROCESS, 0);
  const int of_document = config.process->scheduler ? config.process->scheduler->nice : 0;
  // RLIMIT_NICE is 20 minus the lowest nice value (getrlimit(2)).
  const auto limit = static_cast<int>(std::min<std::uint64_t>(limit_of(config, RLIMIT_NICE), 40));
  return std::min({own, of_document, 20 - std::max(limit, 1)});
}

Result<void> compare_limits(const bundle::Config& config, const linux::Procfs& procfs, int pid) {
  if (has_on_host(config, CAP_SYS_RESOURCE)) return {};
  OCIRUN_TRY(compare_rlimits(config, pid));
  return compare_oom_score(config, procfs, pid);
}

Result<void> compare_scheduling(const bundle::Config& config, int thread) {
  const int found = ::sched_getscheduler(thread);
  sched_param parameters{};
  if (found < 0 || ::sched_getparam(thread, &parameters) != 0)
    return fail(errno, "read the scheduling policy");
  const auto policy = static_cast<std::uint32_t>(found & ~SCHED_RESET_ON_FORK);
  const auto priority = static_cast<std::uint64_t>(parameters.sched_priority);
  const std::uint64_t highest = highest_priority(config, policy);
  if (is_real_time(policy) && (highest == 0 || priority > highest))
    return refuse(
        "has the scheduling policy {} with priority {}: without CAP_SYS_NICE, /process/scheduler "
        "and RLIMIT_RTPRIO of config.json allow at most {}",
        linux::scheduler_policy_name(policy), priority, highest);
  errno = 0;
  const int nice = ::getpriority(PRIO_PROCESS, static_cast<id_t>(thread));
  if (nice == -1 && errno != 0) return fail(errno, "read the nice value");
  if (nice < lowest_nice(config))
    return refuse(
        "has the nice value {}: without CAP_SYS_NICE, /process/scheduler and RLIMIT_NICE of "
        "config.json allow none below {}",
        nice, lowest_nice(config));
  return {};
}

}  // namespace ocirun::runtime
