#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cgroups/statistics/stats.hpp"
#include "linux/network/interfaces.hpp"
#include "linux/resctrl/stats.hpp"

namespace ocirun::bundle {

/// The statistics of a container that `events` prints.
struct ContainerStats {
  std::optional<cgroups::Stats> cgroup;        // absent: the container has no cgroup of its own
  std::optional<linux::ResctrlStats> resctrl;  // absent: no intelRdt, or not readable
  std::vector<linux::InterfaceStats> interfaces;
};

/// {"type":"stats","id":…,"data":{…}} in one line, with the names and units of runc's events,
/// which go-runc reads. `rdma` is an addition.
std::string stats_event(const std::string& id, const ContainerStats& stats);
/// {"type":"oom","id":…}
std::string oom_event(const std::string& id);

}  // namespace ocirun::bundle
