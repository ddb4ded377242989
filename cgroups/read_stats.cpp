#include "cgroups/read_stats.hpp"

#include <algorithm>
#include <limits>

#include "cgroups/text.hpp"

namespace ocirun::cgroups {

std::vector<std::string> hugetlb_page_sizes(const Directory& directory) {
  std::vector<std::string> sizes;
  for (const std::string& file : directory.files()) {
    const auto parts = split(file, '.');  // hugetlb.2MB.max; hugetlb.2MB.rsvd.max has four
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
    TRY_ASSIGN(const Directory* directory, node.directory());
    read_stats_v1(node, *directory, stats);
  }
  for (const Node& node : nodes) {
    if (!node.unified()) continue;
    TRY_ASSIGN(const Directory* directory, node.directory());
    read_stats_v2(*directory, stats);
  }
  return stats;
}

}  // namespace ocirun::cgroups
