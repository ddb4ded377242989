#include "runtime/parent/exhausted_limits.hpp"

#include <cerrno>
#include <csignal>

#include "cgroups/statistics/stats.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::string_view kPointer = "/linux/resources/memory/limit";
constexpr std::string_view kPidsPointer = "/linux/resources/pids/limit";

std::string sentence(const cgroups::MemoryStats& memory) {
  if (cgroups::is_unlimited(memory.memory.limit))
    return "out of memory: a cgroup above the container's, or the host, has too little";
  return fmt::format("out of memory: raise {}, which is {} bytes", kPointer, memory.memory.limit);
}

}  // namespace

std::string tell_oom(const cgroups::Cgroup& cgroup, std::uint64_t kills_before) {
  if (cgroup.oom_kills() <= kills_before) return "";
  const auto stats = cgroup.stats();
  return stats && stats->memory ? " (" + sentence(*stats->memory) + ")" : "";
}

void warn_of_oom(int exit_code, const bundle::ContainerRecord& record, std::uint64_t kills_before,
                 const Log& log) {
  if (exit_code != 128 + SIGKILL) return;
  const auto cgroup = cgroup_of(record);
  if (!cgroup || (*cgroup)->oom_kills() <= kills_before) return;
  const auto stats = (*cgroup)->stats();
  if (stats && stats->memory)
    log.warn(fmt::format("the program was killed: {}", sentence(*stats->memory)));
}

Error name_limit(Error error, const cgroups::Cgroup& cgroup, std::uint64_t kills_before) {
  if (error.message().contains("out of memory: ")) return error;
  const auto stats = cgroup.stats();
  if (stats && stats->pids && stats->pids->limit && error.number() == EAGAIN)
    error.within(fmt::format(
        "{}, which is {}, may leave no room for another process (update --pids-limit raises it)",
        kPidsPointer, *stats->pids->limit));
  if (!stats || !stats->memory) return error;
  const cgroups::MemoryStats& memory = *stats->memory;
  if (memory.oom_kills > kills_before || (error.number() == ENOMEM && memory.memory.fail_count > 0))
    error.within(sentence(memory));
  return error;
}

}  // namespace ocirun::runtime
