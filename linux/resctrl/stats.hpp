#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"

namespace ocirun::linux {

/// Cache and memory bandwidth of one CLOS. What the processor does not support is absent.
struct ResctrlStats {
  struct CacheInfo {
    std::string cbm_mask;
    std::uint64_t min_cbm_bits = 0, num_closids = 0;
  };
  struct BandwidthInfo {
    std::uint64_t bandwidth_gran = 0, delay_linear = 0, min_bandwidth = 0, num_closids = 0;
  };
  struct Domain {  // one cache, in ascending order of cache ids
    std::optional<std::uint64_t> llc_occupancy, mbm_total_bytes, mbm_local_bytes;
  };
  std::optional<CacheInfo> l3;
  std::optional<BandwidthInfo> bandwidth;
  std::string l3_schema_root, l3_schema;  // "L3:0=fffff": of the default CLOS, and of this CLOS
  std::string bandwidth_schema_root, bandwidth_schema;
  std::vector<Domain> domains;  // of the container's monitoring group, else of the CLOS
};

/// `clos` as for update_resctrl(). `monitor` is the name of a group in the mon_groups of the CLOS,
/// or "".
/// Errors: the CLOS is gone.
Result<ResctrlStats> read_resctrl_stats(const HostPath& root, const std::string& clos,
                                        const std::string& monitor);

}  // namespace ocirun::linux
