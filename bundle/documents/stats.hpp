#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cgroups/statistics/stats.hpp"
#include "linux/network/interface_stats.hpp"
#include "linux/resctrl/stats.hpp"

namespace ocirun::bundle {

/// All that `events` tells of a container at one moment.
struct ContainerStats {
  std::optional<cgroups::Stats> cgroup;        // absent: it has no cgroup of its own
  std::optional<linux::ResctrlStats> resctrl;  // without intelRdt: none
  std::vector<linux::InterfaceStats> interfaces;
};

/// {"type":"stats","id":…,"data":{…}} in one line: the names and the units of runc's events, which
/// go-runc reads; `rdma` is added to them.
std::string stats_event(const std::string& id, const ContainerStats& stats);
/// {"type":"oom","id":…}
std::string oom_event(const std::string& id);

}  // namespace ocirun::bundle
