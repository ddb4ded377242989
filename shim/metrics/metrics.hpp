#pragma once

#include <string>

#include "cgroups/statistics/stats.hpp"

namespace ocirun::shim {

/// The statistics of a container as StatsResponse.stats has them: the type and the bytes of an Any.
struct PackedMetrics {
  std::string type_url, value;
};

/// io.containerd.cgroups.v1.Metrics: CPU times in ns, memory in bytes. Statistics that `stats`
/// lacks are left out, but a cpu or memory that is there has all its parts, because clients read
/// these without a check. A pids limit of 0 means "unlimited".
PackedMetrics pack_v1(const cgroups::Stats& stats);
/// io.containerd.cgroups.v2.Metrics: CPU times in us, memory in bytes, pressure in percent.
/// Statistics that `stats` lacks are left out. A limit of 2^64-1 means "unlimited".
PackedMetrics pack_v2(const cgroups::Stats& stats);

}  // namespace ocirun::shim
