#include "shim/metrics/process_cgroup.hpp"

#include <cerrno>
#include <optional>
#include <string>

#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/statistics/read.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::shim {
namespace {

/// The hierarchies, and in each of them the cgroup that `own_cgroups` names: the text of a
/// process's /proc/PID/cgroup.
Result<cgroups::Layout> layout_of(const linux::Procfs& procfs, const std::string& own_cgroups) {
  if (auto usual = cgroups::usual_layout(procfs, own_cgroups)) return *std::move(usual);
  OCIRUN_TRY_ASSIGN(const std::string mountinfo, linux::read_mountinfo(procfs));
  return cgroups::parse_layout(mountinfo, own_cgroups);
}

}  // namespace

Result<ProcessCgroup> ProcessCgroup::of(int pid) {
  OCIRUN_TRY_ASSIGN(const linux::Procfs procfs, linux::Procfs::of_host());
  OCIRUN_TRY_ASSIGN(const std::string own_cgroups, procfs.read(fmt::format("{}/cgroup", pid)));
  OCIRUN_TRY_ASSIGN(const cgroups::Layout layout, layout_of(procfs, own_cgroups));
  if (!layout.pure_v2()) {
    // Asked after `own_cgroups` was read: a process that begins to end does not stop ending.
    OCIRUN_TRY_ASSIGN(const linux::ProcessStat stat, linux::read_process_stat(pid));
    if (stat.is_exiting) return fail(ESRCH, "process {}", pid);
  }
  std::vector<cgroups::Node> nodes;
  for (const cgroups::Hierarchy& hierarchy : layout.hierarchies) {
    const std::string& mount_point = hierarchy.mount_point.string();
    nodes.emplace_back(hierarchy.controllers, mount_point,
                       mount_point + cgroups::shown_path(hierarchy));
  }
  return ProcessCgroup(std::move(nodes), layout.pure_v2());
}

Result<PackedMetrics> ProcessCgroup::metrics() const {
  const auto stats = cgroups::read_stats(nodes_);
  for (const cgroups::Node& node : nodes_) node.close();
  if (!stats) return std::unexpected(stats.error());
  return pure_v2_ ? pack_v2(*stats) : pack_v1(*stats);
}

Result<PackedMetrics> read_metrics(int pid) {
  OCIRUN_TRY_ASSIGN(const ProcessCgroup cgroup, ProcessCgroup::of(pid));
  return cgroup.metrics();
}

}  // namespace ocirun::shim
