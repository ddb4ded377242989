#include "cgroups/statistics/read.hpp"

#include <algorithm>
#include <limits>

#include "cgroups/hierarchies/text.hpp"

namespace ocirun::cgroups {

std::vector<std::string> hugetlb_page_sizes(const Directory& directory) {
  std::vector<std::string> sizes;
  for (const std::string& file : directory.files()) {
    const auto parts = split(file, '.');  // hugetlb.2MB.max; hugetlb.2MB.rsvd.max has 4 parts
    if (parts.size() == 3 && parts[0] == "hugetlb" &&
        (parts[2] == "max" || parts[2] == "limit_in_bytes"))
      sizes.emplace_back(parts[1]);
  }
  std::ranges::sort(sizes);
  return sizes;
}

std::optional<std::uint64_t> read_number(const Directory& directory, const std::string& file) {
  const std::string text = directory.read_or_empty(file);
  if (text == "max") return std::numeric_limits<std::uint64_t>::max();
  return number(text);
}

std::optional<PidsStats> read_pids(const Directory& directory) {
  const auto current = read_number(directory, "pids.current");
  if (!current) return std::nullopt;
  const auto limit = number(directory.read_or_empty("pids.max"));  // nullopt for "max"
  return PidsStats{.current = *current, .limit = limit};
}

std::vector<std::uint16_t> read_number_list(const Directory& directory, const std::string& file) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint16_t>::max();
  std::vector<std::uint16_t> list;
  const std::string text = directory.read_or_empty(file);
  for (const std::string_view range : words(text, ',')) {
    const auto ends = split(range, '-');
    const auto first = number(ends.front()), last = number(ends.back());
    if (!first || !last || ends.size() > 2 || *last > kMost) return {};
    for (std::uint64_t n = *first; n <= *last; ++n) list.push_back(static_cast<std::uint16_t>(n));
  }
  return list;
}

std::map<std::string, RdmaStats> read_rdma(const Directory& directory) {
  constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();
  std::map<std::string, RdmaStats> devices;
  // Lines "mlx4_0 hca_handle=2 hca_object=2000"; "max" means unlimited.
  const auto read = [&](const char* file, std::uint32_t RdmaStats::* handles,
                        std::uint32_t RdmaStats::* objects) {
    const std::string text = directory.read_or_empty(file);
    for (const std::string_view line : words(text, '\n')) {
      const auto columns = words(line);
      RdmaStats& stats = devices[std::string(columns[0])];
      for (const std::string_view column : columns) {
        const auto pair = split(column, '=');
        if (pair.size() != 2) continue;
        const std::uint64_t value = number(pair[1]).value_or(kUnlimited);
        if (pair[0] == "hca_handle") stats.*handles = static_cast<std::uint32_t>(value);
        if (pair[0] == "hca_object") stats.*objects = static_cast<std::uint32_t>(value);
      }
    }
  };
  read("rdma.current", &RdmaStats::handles, &RdmaStats::objects);
  read("rdma.max", &RdmaStats::handle_limit, &RdmaStats::object_limit);
  return devices;
}

std::optional<Pressure> read_pressure(const Directory& directory, const std::string& file) {
  const std::string text = directory.read_or_empty(file);
  if (text.empty()) return std::nullopt;
  Pressure pressure;
  for (const std::string_view line : words(text, '\n')) {
    const auto columns = words(line);
    PressureLine& out = columns[0] == "full" ? pressure.full : pressure.some;
    for (const std::string_view column : columns) {
      const auto pair = split(column, '=');
      if (pair.size() != 2) continue;
      std::string digits(pair[1]);  // an average such as 1.25 becomes 125 hundredths
      std::erase(digits, '.');
      const std::uint64_t value = number(digits).value_or(0);
      if (pair[0] == "avg10") out.avg10 = value;
      if (pair[0] == "avg60") out.avg60 = value;
      if (pair[0] == "avg300") out.avg300 = value;
      if (pair[0] == "total") out.total_us = value;
    }
  }
  return pressure;
}

std::map<std::string, std::uint64_t> read_table(const Directory& directory,
                                                const std::string& file) {
  std::map<std::string, std::uint64_t> table;
  const std::string text = directory.read_or_empty(file);
  for (const std::string_view line : words(text, '\n')) {
    const auto columns = words(line);
    if (columns.size() != 2) continue;
    if (const auto value = number(columns[1])) table.emplace(columns[0], *value);
  }
  return table;
}

Result<Stats> read_stats(std::span<const Node> nodes) {
  Stats stats;
  for (const Node& node : nodes) {
    if (node.unified()) continue;
    OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
    read_stats_v1(node, *directory, stats);
  }
  for (const Node& node : nodes) {
    if (!node.unified()) continue;
    OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
    read_stats_v2(*directory, stats);
  }
  return stats;
}

}  // namespace ocirun::cgroups
