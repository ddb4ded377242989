#include "linux/resctrl/stats.hpp"

#include <fcntl.h>

#include <algorithm>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kCounterFileLimit = 1 << 20;
constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::string read_or_empty(Fd directory, const std::string& file) {
  const auto fd = sys::openat(directory, file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  std::string text = fd ? sys::read_all(*fd, kCounterFileLimit).value_or("") : "";
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

/// Nothing where the file is missing or contains "Unavailable".
std::optional<std::uint64_t> read_number(Fd directory, const std::string& file) {
  return number(read_or_empty(directory, file));
}

/// Finds the line of `resource` in schemata, such as "L3:0=fffff". The kernel indents the lines.
std::string schema_of(Fd directory, std::string_view resource) {
  const std::string text = read_or_empty(directory, "schemata");
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = cut(rest, '\n');
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with(resource)) return std::string(line);
  }
  return {};
}

std::vector<std::string> domain_names(Fd mon_data) {
  std::vector<std::string> names;
  // A directory that cannot be listed gives no names.
  ignore(for_each_entry(mon_data, [&](std::string_view name, unsigned char) -> Result<void> {
    if (name.starts_with("mon_L3_")) names.emplace_back(name);
    return {};
  }));
  std::ranges::sort(names);
  return names;
}

void read_info(Fd root, ResctrlStats& stats) {
  if (const std::string mask = read_or_empty(root, "info/L3/cbm_mask"); !mask.empty())
    stats.l3 = {.cbm_mask = mask,
                .min_cbm_bits = read_number(root, "info/L3/min_cbm_bits").value_or(0),
                .num_closids = read_number(root, "info/L3/num_closids").value_or(0)};
  if (const auto granularity = read_number(root, "info/MB/bandwidth_gran"))
    stats.bandwidth = {.bandwidth_gran = *granularity,
                       .delay_linear = read_number(root, "info/MB/delay_linear").value_or(0),
                       .min_bandwidth = read_number(root, "info/MB/min_bandwidth").value_or(0),
                       .num_closids = read_number(root, "info/MB/num_closids").value_or(0)};
}

}  // namespace

Result<ResctrlStats> read_resctrl_stats(const HostPath& root, const std::string& clos,
                                        const std::string& monitor) {
  OCIRUN_TRY_ASSIGN(const UniqueFd top, sys::open(root.c_str(), kOpenDirectory));
  OCIRUN_TRY_ASSIGN(const UniqueFd group,
                    sys::openat(top, clos == "/" ? "." : clos.c_str(), kOpenDirectory));
  ResctrlStats stats;
  read_info(top, stats);
  stats.l3_schema_root = schema_of(top, "L3:");
  stats.l3_schema = schema_of(group, "L3:");
  stats.bandwidth_schema_root = schema_of(top, "MB:");
  stats.bandwidth_schema = schema_of(group, "MB:");
  const std::string data = monitor.empty() ? "mon_data" : "mon_groups/" + monitor + "/mon_data";
  const auto mon_data = sys::openat(group, data.c_str(), kOpenDirectory);
  if (!mon_data) return stats;  // the processor has no monitoring
  for (const std::string& name : domain_names(*mon_data))
    stats.domains.push_back({.llc_occupancy = read_number(*mon_data, name + "/llc_occupancy"),
                             .mbm_total_bytes = read_number(*mon_data, name + "/mbm_total_bytes"),
                             .mbm_local_bytes = read_number(*mon_data, name + "/mbm_local_bytes")});
  return stats;
}

}  // namespace ocirun::linux
