#pragma once

#include <span>
#include <string>
#include <vector>

#include "cgroups/hierarchies/node.hpp"
#include "cgroups/statistics/stats.hpp"

namespace ocirun::cgroups {

/// Reads the statistics of all hierarchies: v1 for the controllers that are mounted there, else v2.
/// Statistics whose file the kernel lacks are left absent. Errors: the cgroup is gone.
Result<Stats> read_stats(std::span<const Node> nodes);

void read_stats_v1(const Node& node, const Directory& directory, Stats& stats);
/// Fills in the statistics that v1 has not given.
void read_stats_v2(const Directory& directory, Stats& stats);

/// "2MB", "1GB": the page sizes that the directory has hugetlb files for.
std::vector<std::string> hugetlb_page_sizes(const Directory& directory);

/// The text of a file as a number; "max" is 2^64-1. Nothing for any other text.
std::optional<std::uint64_t> read_number(const Directory& directory, const std::string& file);
/// A list of CPUs or memory nodes, "0-3,7"; empty where it cannot be read.
std::vector<std::uint16_t> read_number_list(const Directory& directory, const std::string& file);
/// pids.current and pids.max, which have the same format in both hierarchies. Nothing without the
/// pids controller.
std::optional<PidsStats> read_pids(const Directory& directory);
/// rdma.current and rdma.max, which have the same format in both hierarchies.
std::map<std::string, RdmaStats> read_rdma(const Directory& directory);
/// Parses a pressure file: "some avg10=0.12 avg60=0.00 avg300=0.00 total=34", and a line "full …"
/// (Linux 4.20; a kernel booted with psi=0 refuses to read it).
std::optional<Pressure> read_pressure(const Directory& directory, const std::string& file);
/// Parses a file of lines "NAME NUMBER".
std::map<std::string, std::uint64_t> read_table(const Directory& directory,
                                                const std::string& file);

}  // namespace ocirun::cgroups
