// `process` (docs/requirements.md: P-1 … P-22).

#include <linux/sched.h>

#include <algorithm>

#include "bundle/config/nearest_capability.hpp"
#include "bundle/config/sections.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

constexpr auto kConsoleSize = fields<linux::ConsoleSize>(
    required("height", &linux::ConsoleSize::height, whole_number),  // P-3
    required("width", &linux::ConsoleSize::width, whole_number));

constexpr auto kUser = fields<User>(required("uid", &User::uid, uid),  // P-19
                                    required("gid", &User::gid, gid),
                                    field("umask", &User::umask, range(0, 0777)),  // P-20
                                    without_effect("username"),                    // P-22
                                    field("additionalGids", &User::additional_gids, list_of(gid)));

// P-8: both limits are required.
constexpr auto kRlimit = checked(
    fields<linux::Rlimit>(required("type", &linux::Rlimit::resource,
                                   word("limit", linux::rlimit_resource, linux::rlimit_names)),
                          required("soft", &linux::Rlimit::soft, whole_number),
                          required("hard", &linux::Rlimit::hard, whole_number)),
    [](Value at, const linux::Rlimit& limit) {
      if (limit.soft > limit.hard)
        at.problem_at("soft", "{} is above the hard limit {}", limit.soft, limit.hard);
    });

bool read_rlimits(Value at, std::vector<linux::Rlimit>& out) {
  if (!at.expect_list()) return false;
  bool good = true;
  for (const Value item : at) {
    linux::Rlimit limit;
    if (!kRlimit(item, limit)) {
      good = false;
      continue;
    }
    if (std::ranges::find(out, limit.resource, &linux::Rlimit::resource) != out.end()) {
      item.problem_at("type", "{} is listed twice", linux::rlimit_name(limit.resource));
      good = false;
    }
    out.push_back(limit);
  }
  return good;
}

/// P-10: an unknown capability causes a warning, no error.
bool read_capabilities(Value at, linux::CapabilitySet& out) {
  if (!at.expect_list()) return false;
  bool good = true;
  for (const Value item : at) {
    std::string name;
    if (!text(item, name)) {
      good = false;
    } else if (const auto capability = linux::capability_number(name)) {
      out.add(*capability);
    } else {
      const std::string near = nearest_capability(name);
      item.warning("unknown capability {}: it is not granted{}", in_quotes(name),
                   near.empty() ? "" : fmt::format(" (did you mean {}?)", near));
    }
  }
  return good;
}

constexpr auto kCapabilities = fields<linux::CapabilitySets>(
    field("bounding", &linux::CapabilitySets::bounding, read_capabilities),
    field("effective", &linux::CapabilitySets::effective, read_capabilities),
    field("inheritable", &linux::CapabilitySets::inheritable, read_capabilities),
    field("permitted", &linux::CapabilitySets::permitted, read_capabilities),
    field("ambient", &linux::CapabilitySets::ambient, read_capabilities));

/// P-15: checks that sched_setattr(2) accepts the values with the policy.
void check_scheduler(Value at, const linux::Scheduler& scheduler) {
  const std::uint32_t policy = scheduler.policy;
  const bool fair = policy == SCHED_NORMAL || policy == SCHED_BATCH;
  const bool realtime = policy == SCHED_FIFO || policy == SCHED_RR;
  if (fair && (scheduler.nice < -20 || scheduler.nice > 19))
    at.problem_at("nice", "must be from -20 to 19, not {}", scheduler.nice);
  if (realtime && (scheduler.priority < 1 || scheduler.priority > 99))
    at.problem_at("priority", "must be from 1 to 99 with this policy, not {}", scheduler.priority);
  if (!realtime && scheduler.priority != 0)
    at.problem_at("priority", "is for SCHED_FIFO and SCHED_RR only, it must be 0 here, not {}",
                  scheduler.priority);
  if (policy == SCHED_DEADLINE) return;
  for (const auto& [name, value] :
       {std::pair("runtime", scheduler.runtime), std::pair("deadline", scheduler.deadline),
        std::pair("period", scheduler.period)})
    if (value != 0)
      at.problem_at(name, "is for SCHED_DEADLINE only, it must be 0 here, not {}", value);
}

constexpr auto kScheduler =
    checked(fields<linux::Scheduler>(
                required("policy", &linux::Scheduler::policy,
                         word("policy", linux::scheduler_policy, linux::scheduler_policies)),
                field("flags", &linux::Scheduler::flags,
                      flags_of(word("flag", linux::scheduler_flag, linux::scheduler_flags))),
                field("nice", &linux::Scheduler::nice, whole_number),
                field("priority", &linux::Scheduler::priority, range(0, INT32_MAX)),
                field("runtime", &linux::Scheduler::runtime, whole_number),
                field("deadline", &linux::Scheduler::deadline, whole_number),
                field("period", &linux::Scheduler::period, whole_number)),
            check_scheduler);

/// P-17: the priority is required. IOPRIO_CLASS_IDLE has no levels: there, a missing priority
/// causes only a warning.
void check_io_priority(Value at, const linux::IoPriority& priority) {
  if (at.member("priority")) return;
  if (priority.io_class != linux::io_priority_class("IOPRIO_CLASS_IDLE"))
    return at.problem_at("priority", "is missing: it must be a number from 0 to 7");
  at.warning(
      "priority is missing, which the specification requires (config.md, ioPriority); "
      "IOPRIO_CLASS_IDLE has no levels");
}

constexpr auto kIoPriority =
    checked(fields<linux::IoPriority>(  // P-17
                required("class", &linux::IoPriority::io_class,
                         word("class", linux::io_priority_class, linux::io_priority_classes)),
                field("priority", &linux::IoPriority::priority, range(0, 7))),
            check_io_priority);

/// P-18: "" is the same as absent.
bool read_cpus(Value at, std::optional<linux::NumberSet>& out) {
  linux::NumberSet cpus;
  if (!number_set(at, cpus)) return false;
  if (!cpus.empty()) out = std::move(cpus);
  return true;
}

constexpr auto kCpuAffinity = fields<Process>(
    part("initial", [](Value at, Process& out) { return read_cpus(at, out.initial_cpu_affinity); }),
    part("final", [](Value at, Process& out) { return read_cpus(at, out.final_cpu_affinity); }));

constexpr auto kProcess =
    fields<Process>(field("terminal", &Process::terminal, flag),    // P-2
                    without_effect("consoleSize"),                  // P-3: see read_process()
                    required("cwd", &Process::cwd, absolute_path),  // P-4
                    field("env", &Process::env, list_of(environment_entry)),       // P-5
                    required("args", &Process::args, texts),                       // P-6
                    without_effect("commandLine"),                                 // P-7
                    field("user", &Process::user, kUser),                          // P-19 … P-21
                    field("rlimits", &Process::rlimits, read_rlimits),             // P-8
                    field("apparmorProfile", &Process::apparmor_profile, text),    // P-9
                    field("selinuxLabel", &Process::selinux_label, text),          // P-16
                    field("capabilities", &Process::capabilities, kCapabilities),  // P-10
                    field("noNewPrivileges", &Process::no_new_privileges, flag),   // P-13
                    field("oomScoreAdj", &Process::oom_score_adj, range(-1000, 1000)),  // P-14
                    field("scheduler", &Process::scheduler, kScheduler),                // P-15
                    field("ioPriority", &Process::io_priority, kIoPriority),            // P-17
                    part("execCPUAffinity", kCpuAffinity));                             // P-18

/// Docker sends a size of 0 by 0 with each process that has no terminal.
bool is_zero_by_zero(Value size) {
  for (const char* side : {"height", "width"}) {
    const auto member = size.member(side);
    if (!member || member->node().kind != Node::Kind::kNatural || member->node().number != 0)
      return false;
  }
  return true;
}

}  // namespace

bool read_process(Value at, Process& out) {
  const bool good = kProcess(at, out);
  const auto args = at.member("args");
  if (args && args->node().is_array() && out.args.empty()) {
    args->problem("must hold at least the program to run");  // P-6
    return false;
  }
  const auto size = at.member("consoleSize");  // P-3
  if (size && out.terminal) return kConsoleSize(*size, out.console_size.emplace()) && good;
  if (size && !is_zero_by_zero(*size)) size->warning("has no effect, because terminal is not true");
  return good;
}

}  // namespace ocirun::bundle
