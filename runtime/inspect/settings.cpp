// What the kernel grants init: limits, priorities, CPUs, clocks.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>

#include "bundle/config/annotations.hpp"
#include "bundle/config/landlock.hpp"
#include "cgroups/statistics/stats.hpp"
#include "linux/base/text.hpp"
#include "linux/process/core_scheduling.hpp"
#include "linux/process/rlimits.hpp"
#include "linux/process/scheduling.hpp"
#include "linux/resctrl/group.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

// The names in /proc/PID/limits.
constexpr linux::Named<int> kLimitNames[] = {
    {"Max cpu time", RLIMIT_CPU},
    {"Max file size", RLIMIT_FSIZE},
    {"Max data size", RLIMIT_DATA},
    {"Max stack size", RLIMIT_STACK},
    {"Max core file size", RLIMIT_CORE},
    {"Max resident set", RLIMIT_RSS},
    {"Max processes", RLIMIT_NPROC},
    {"Max open files", RLIMIT_NOFILE},
    {"Max locked memory", RLIMIT_MEMLOCK},
    {"Max address space", RLIMIT_AS},
    {"Max file locks", RLIMIT_LOCKS},
    {"Max pending signals", RLIMIT_SIGPENDING},
    {"Max msgqueue size", RLIMIT_MSGQUEUE},
    {"Max nice priority", RLIMIT_NICE},
    {"Max realtime priority", RLIMIT_RTPRIO},
    {"Max realtime timeout", RLIMIT_RTTIME},
};

/// The soft and the hard limit of a line of /proc/PID/limits, "" if there is no such line.
std::pair<std::string, std::string> find_limit(std::string_view limits, int resource) {
  const std::string_view name = linux::name_of(kLimitNames, resource);
  for (const std::string_view line : linux::words(limits, '\n')) {
    if (!line.starts_with(name) || !line.substr(name.size()).starts_with(' ')) continue;
    const auto words = linux::words(line.substr(name.size()));
    if (words.size() >= 2) return {std::string(words[0]), std::string(words[1])};
  }
  return {};
}

void add_rlimits(Rows& rows, const Subject& subject, const bundle::Process& process) {
  const auto limits = subject.read("limits");
  for (const linux::Rlimit& limit : process.rlimits) {
    const std::string soft = linux::rlimit_text(limit.soft);
    const std::string hard = linux::rlimit_text(limit.hard);
    Row row{fmt::format("/process/rlimits {}", linux::rlimit_name(limit.resource)),
            fmt::format("{}:{}", soft, hard), "", Verdict::kUnknown};
    if (!limits) {
      row.found = limits.error().message();
    } else {
      const auto [found_soft, found_hard] = find_limit(*limits, limit.resource);
      row.found = fmt::format("{}:{}", found_soft, found_hard);
      // A program may lower its limits, and move its soft limit up to the hard one.
      const auto number = [](const std::string& text) {
        return linux::number(text).value_or(~std::uint64_t{0});  // "unlimited"
      };
      if (found_soft == soft && found_hard == hard)
        row.verdict = Verdict::kAsAsked;
      else if (!found_hard.empty())
        row.verdict = number(found_hard) > number(hard) ? Verdict::kDrift : Verdict::kUnasked;
    }
    rows.push_back(std::move(row));
  }
}

void add_oom_score(Rows& rows, const Subject& subject, const bundle::Process& process) {
  const auto text = subject.read("oom_score_adj");
  if (!text)
    return rows.push_back({"/process/oomScoreAdj", "", text.error().message(), Verdict::kUnknown});
  const std::string found(linux::words(*text, '\n').empty() ? "" : linux::words(*text, '\n')[0]);
  if (process.oom_score_adj)
    rows.push_back(compared("/process/oomScoreAdj", std::to_string(*process.oom_score_adj), found));
  else
    rows.push_back({"/process/oomScoreAdj", "", found, Verdict::kUnasked});
}

std::string scheduler_text(const linux::Scheduler& scheduler) {
  std::string text = fmt::format("{}", linux::scheduler_policy_name(scheduler.policy));
  if (scheduler.priority != 0) text += fmt::format(" priority {}", scheduler.priority);
  // The kernel tells no nice value of the other policies, and a period of its own where none is
  // asked.
  const bool has_nice = scheduler.priority == 0 && scheduler.deadline == 0;
  if (has_nice && scheduler.nice != 0) text += fmt::format(" nice {}", scheduler.nice);
  if (scheduler.deadline != 0)
    text += fmt::format(" runtime {} deadline {} period {}", scheduler.runtime, scheduler.deadline,
                        scheduler.period == 0 ? scheduler.deadline : scheduler.period);
  return text;
}

void add_scheduling(Rows& rows, const Subject& subject, const bundle::Process& process) {
  const auto found = linux::scheduler_of(subject.pid);
  if (!found) {
    rows.push_back({"/process/scheduler", "", found.error().message(), Verdict::kUnknown});
  } else if (process.scheduler) {
    rows.push_back(
        compared("/process/scheduler", scheduler_text(*process.scheduler), scheduler_text(*found)));
  } else if (found->policy != 0 || found->nice != 0) {
    rows.push_back({"/process/scheduler", "", scheduler_text(*found), Verdict::kUnasked});
  }
  if (!process.io_priority) return;
  const auto priority = linux::io_priority_of(subject.pid);
  const auto text = [](const linux::IoPriority& value) {
    return fmt::format("class {} priority {}", value.io_class, value.priority);
  };
  if (priority)
    rows.push_back(compared("/process/ioPriority", text(*process.io_priority), text(*priority)));
  else
    rows.push_back({"/process/ioPriority", text(*process.io_priority), priority.error().message(),
                    Verdict::kUnknown});
}

/// "0-1,3"
std::string ranges_of(const std::vector<std::uint16_t>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cpus[i]);
    if (last != i) text += fmt::format("-{}", cpus[last]);
    i = last + 1;
  }
  return text;
}

/// `create` gives init all CPUs of its cpuset. A program may choose some of them.
void add_affinity(Rows& rows, const Subject& subject) {
  const std::string found(status_field(subject.status, "Cpus_allowed_list"));
  if (found.empty()) return;
  const auto cgroup = subject.container.cgroup();
  const auto stats = cgroup ? (*cgroup)->stats() : Result<cgroups::Stats>();
  const bool is_known = cgroup && stats && stats->cpuset && !stats->cpuset->cpus.empty();
  if (!is_known) return rows.push_back({"CPUs", "", found, Verdict::kUnasked});
  rows.push_back(compared("CPUs", ranges_of(stats->cpuset->cpus), found));
  if (rows.back().verdict == Verdict::kDrift) rows.back().verdict = Verdict::kUnasked;
}

/// The file has a line for each clock: "monotonic SECONDS NANOSECONDS".
void add_clocks(Rows& rows, const Subject& subject) {
  if (subject.config.time_offsets.empty()) return;
  const auto text = subject.read("timens_offsets");
  for (const linux::TimeOffset& offset : subject.config.time_offsets) {
    const bool is_monotonic = offset.clock == linux::TimeOffset::Clock::kMonotonic;
    const char* const name = is_monotonic ? "monotonic" : "boottime";
    Row row{fmt::format("/linux/timeOffsets/{}", name),
            fmt::format("{} {}", offset.seconds, offset.nanoseconds),
            text ? "" : text.error().message(), Verdict::kUnknown};
    if (text)
      for (const std::string_view line : linux::words(*text, '\n'))
        if (const auto words = linux::words(line); words.size() == 3 && words[0] == name)
          row = compared(row.what, row.asked, fmt::format("{} {}", words[1], words[2]));
    rows.push_back(std::move(row));
  }
}

void add_personality(Rows& rows, const Subject& subject) {
  if (!subject.config.personality) return;
  const auto text = subject.read("personality");
  const std::string asked = fmt::format("{:08x}", *subject.config.personality);
  if (!text)
    rows.push_back({"/linux/personality", asked, text.error().message(), Verdict::kUnknown});
  else
    rows.push_back(compared("/linux/personality", asked, text->substr(0, text->find('\n'))));
}

void add_core_scheduling(Rows& rows, const Subject& subject) {
  if (!bundle::wants_core_scheduling(subject.config.annotations)) return;
  const auto cookie = linux::core_cookie_of(subject.pid);
  Row row{fmt::format("/annotations/{}", bundle::kCoreScheduling), "a cookie", "",
          Verdict::kAsAsked};
  if (cookie)
    row.found = *cookie == 0 ? "no cookie" : "a cookie";
  else
    row.found = cookie.error().number() == ENODEV ? "no core has several threads"
                                                  : cookie.error().message();
  if (cookie && *cookie == 0) row.verdict = Verdict::kDrift;
  if (!cookie && cookie.error().number() != ENODEV) row.verdict = Verdict::kUnknown;
  rows.push_back(std::move(row));
}

void add_interfaces(Rows& rows, const Subject& subject) {
  if (subject.config.net_devices.empty()) return;
  const auto interfaces = linux::read_interface_stats(subject.pid);
  for (const linux::NetDevice& device : subject.config.net_devices) {
    Row row{fmt::format("/linux/netDevices/{}", device.host_name), device.container_name,
            interfaces ? "no such interface" : interfaces.error().message(), Verdict::kUnknown};
    if (interfaces) {
      const bool is_template = device.container_name.find('%') != std::string::npos;
      const bool is_there = std::ranges::any_of(*interfaces, [&](const auto& interface) {
        return interface.name == device.container_name;
      });
      if (is_there) row.found = device.container_name;
      row.verdict = is_there ? Verdict::kAsAsked : Verdict::kDrift;
      if (is_template) {
        row.verdict = Verdict::kUnasked;
        row.found = "the kernel has chosen the number";
      }
    }
    rows.push_back(std::move(row));
  }
}

void add_resctrl(Rows& rows, const Subject& subject) {
  if (!subject.config.intel_rdt) return;
  const linux::IntelRdt& rdt = *subject.config.intel_rdt;
  const auto root = linux::find_resctrl();
  const auto schemata =
      root ? linux::read_schemata(*root, rdt.clos_id.value_or(subject.container.record().id))
           : Result<std::string>(std::unexpected(root.error()));
  for (const std::string& line : linux::schema_lines(rdt)) {
    Row row{"/linux/intelRdt", line, "", Verdict::kUnknown};
    if (!schemata) {
      row.found = schemata.error().message();
    } else {
      const bool agrees = linux::schemata_agree(line, *schemata).value_or(false);
      row.verdict = agrees ? Verdict::kAsAsked : Verdict::kDrift;
      row.found =
          agrees ? line : fmt::format("{}", fmt::join(linux::schemata_of(*schemata, {line}), "; "));
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace

Rows inspect_settings(const Subject& subject) {
  Rows rows;
  if (subject.config.process) {
    const bundle::Process& process = *subject.config.process;
    add_rlimits(rows, subject, process);
    add_oom_score(rows, subject, process);
    add_scheduling(rows, subject, process);
  }
  add_affinity(rows, subject);
  add_clocks(rows, subject);
  add_personality(rows, subject);
  if (subject.config.memory_policy)
    rows.push_back({"/linux/memoryPolicy", "a policy",
                    "the kernel does not tell the policy of another process", Verdict::kUnasked});
  if (bundle::landlock_rules(subject.config.annotations).value_or(std::nullopt))
    rows.push_back({"/annotations/org.ocirun.landlock", "rules",
                    "the kernel does not tell the rules of another process", Verdict::kUnasked});
  add_core_scheduling(rows, subject);
  add_interfaces(rows, subject);
  add_resctrl(rows, subject);
  return rows;
}

}  // namespace ocirun::runtime
