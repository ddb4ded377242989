// The limits of the container's cgroup, and what it uses.

#include <fmt/format.h>

#include <algorithm>

#include "cgroups/container/compare.hpp"
#include "cgroups/statistics/stats.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/mount_point.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

/// The resources of the document, after the last `update`.
Result<cgroups::Resources> asked_resources(const Subject& subject) {
  OCIRUN_TRY_ASSIGN(const auto updated, subject.container.directory().read_resources());
  if (updated) return *updated;
  return subject.config.resources.value_or(cgroups::Resources());
}

Result<std::vector<cgroups::LimitFound>> compare_limits(const Subject& subject) {
  OCIRUN_TRY_ASSIGN(const cgroups::Resources resources, asked_resources(subject));
  return cgroups::compare_limits(subject.container.record().cgroup, resources);
}

/// Init may have been moved out of the container's cgroup, whose limits then say nothing.
void add_place(Rows& rows, const Subject& subject) {
  const cgroups::Record& record = subject.container.record().cgroup;
  const auto text = subject.read("cgroup");
  if (!text)
    return rows.push_back({"cgroup", record.path, text.error().message(), Verdict::kUnknown});
  Row row{"cgroup", "", record.path, Verdict::kAsAsked};
  for (std::string_view line : linux::words(*text, '\n')) {
    linux::cut(line, ':');
    const std::string_view controllers = linux::cut(line, ':');
    const bool is_recorded = std::ranges::any_of(
        record.directories, [&](const auto& entry) { return entry.first == controllers; });
    // "/..": the caller is in a cgroup namespace.
    if (!is_recorded || line.starts_with("/..") || linux::is_at_or_below(line, record.path))
      continue;
    row = {"cgroup", record.path,
           fmt::format("{} in {}", line, controllers.empty() ? "v2" : controllers),
           Verdict::kDrift};
  }
  rows.push_back(std::move(row));
}

/// systemd sets this limit of a scope by a default of its own.
bool is_of_systemd(const cgroups::Record& record, const std::string& file) {
  return !record.unit.empty() && file == "pids.max";
}

void add_devices(Rows& rows, const Subject& subject, const cgroups::Resources& resources) {
  const auto same = cgroups::has_device_rules(subject.container.record().cgroup, resources.devices);
  Row row{"/linux/resources/devices", "", "as asked", Verdict::kAsAsked};
  if (!same || !*same) {
    row.found = same ? "cannot be read here" : same.error().message();
    row.verdict = Verdict::kUnknown;
  } else if (!**same) {
    row.asked = fmt::format("{} rules and the default devices", resources.devices.size());
    row.found = "other rules";
    row.verdict = Verdict::kDrift;
  }
  rows.push_back(std::move(row));
}

std::string mib(std::uint64_t bytes) {
  return cgroups::is_unlimited(bytes)
             ? "no limit"
             : fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string seconds(std::uint64_t nanoseconds) {
  return fmt::format("{:.3f} s", static_cast<double>(nanoseconds) / 1e9);
}

void add_pressure(Rows& rows, const char* what, const std::optional<cgroups::Pressure>& pressure) {
  if (!pressure) return;
  const auto line = [](const cgroups::PressureLine& values) {
    return fmt::format("{}.{:02} % {}.{:02} %", values.avg10 / 100, values.avg10 % 100,
                       values.avg60 / 100, values.avg60 % 100);
  };
  rows.push_back({what, "",
                  fmt::format("some {}, full {}, of 10 s and 60 s", line(pressure->some),
                              line(pressure->full))});
}

}  // namespace

Rows inspect_limits(const Subject& subject) {
  Rows rows;
  const bundle::ContainerRecord& record = subject.container.record();
  if (is_without_cgroup(record)) {
    rows.push_back({"cgroup", "", "the container has none of its own", Verdict::kUnasked});
    return rows;
  }
  add_place(rows, subject);
  auto limits = compare_limits(subject);
  // An `update` may have been at work.
  if (limits && !std::ranges::all_of(*limits, &cgroups::LimitFound::is_same))
    limits = compare_limits(subject);
  if (!limits) rows.push_back({"cgroup", "", limits.error().message(), Verdict::kUnknown});
  for (const cgroups::LimitFound& limit : limits.value_or(std::vector<cgroups::LimitFound>())) {
    const std::string what =
        limit.pointer.empty() ? limit.file : fmt::format("{} {}", limit.pointer, limit.file);
    Verdict verdict = limit.is_same ? Verdict::kAsAsked : Verdict::kDrift;
    if (limit.pointer.empty() && is_of_systemd(record.cgroup, limit.file))
      verdict = Verdict::kUnasked;
    rows.push_back({what, limit.pointer.empty() ? "no limit" : limit.asked, limit.found, verdict});
    if (limit.is_same) rows.back().asked.clear();
  }
  if (const auto resources = asked_resources(subject)) add_devices(rows, subject, *resources);
  return rows;
}

Rows inspect_use(const Container& container) {
  Rows rows;
  const auto cgroup = container.cgroup();
  if (is_without_cgroup(container.record()) || !cgroup) return rows;
  const auto stats = (*cgroup)->stats();
  if (!stats) return {{"cgroup", "", stats.error().message(), Verdict::kUnknown}};
  if (stats->memory)
    rows.push_back(
        {"memory", "",
         fmt::format("{}, at most {} so far, of {}; killed for memory: {}",
                     mib(stats->memory->memory.usage), mib(stats->memory->memory.max_usage),
                     mib(stats->memory->memory.limit), stats->memory->oom_kills)});
  if (stats->cpu)
    rows.push_back({"CPU time", "",
                    fmt::format("{}, throttled for {} in {} of {} periods",
                                seconds(stats->cpu->total_ns), seconds(stats->cpu->throttled_ns),
                                stats->cpu->throttled_periods, stats->cpu->periods)});
  if (stats->pids)
    rows.push_back(
        {"processes and threads", "",
         fmt::format("{} of {}", stats->pids->current,
                     stats->pids->limit ? std::to_string(*stats->pids->limit) : "no limit")});
  add_pressure(rows, "pressure of CPU", stats->cpu_pressure);
  add_pressure(rows, "pressure of memory", stats->memory_pressure);
  add_pressure(rows, "pressure of I/O", stats->io_pressure);
  return rows;
}

}  // namespace ocirun::runtime
