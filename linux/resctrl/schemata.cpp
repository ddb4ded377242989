#include "linux/resctrl/schemata.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "linux/base/text.hpp"

namespace ocirun::linux {
namespace {

struct Allocation {
  std::string resource;  // "L3", "MB" …
  std::string domain;
  std::string value;
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

std::string_view trim(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Normalizes a number, so that "0x07F0" equals "7f0" (masks) and "020" equals "20" (shares).
std::string normal_number(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  std::string number(text);
  for (char& c : number) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return number;
}

// Parses a line such as "L3:0=7f0;1=1f". Nothing for a line of another form.
std::optional<std::vector<Allocation>> parse_line(std::string_view line) {
  std::vector<Allocation> allocations;
  const std::string_view resource = trim(cut(line, ':'));
  if (resource.empty() || line.empty()) return std::nullopt;
  while (!line.empty()) {
    std::string_view entry = trim(cut(line, ';'));
    const std::string_view domain = trim(cut(entry, '='));
    const std::string_view value = trim(entry);
    if (domain.empty() || value.empty()) return std::nullopt;
    allocations.push_back({std::string(resource), normal_number(domain), normal_number(value)});
  }
  return allocations;
}

}  // namespace

std::vector<std::string> schema_lines(const IntelRdt& rdt) {
  std::vector<std::string> lines;
  // l3CacheSchema should hold one line, but may hold several.
  std::string_view l3 = rdt.l3_cache_schema ? std::string_view(*rdt.l3_cache_schema) : "";
  while (!l3.empty())
    if (const auto line = trim(cut(l3, '\n')); !line.empty()) lines.emplace_back(line);
  if (rdt.mem_bw_schema) lines.push_back(*rdt.mem_bw_schema);
  if (rdt.schemata) lines.insert(lines.end(), rdt.schemata->begin(), rdt.schemata->end());
  return lines;
}

Result<bool> schemata_agree(std::string_view line, std::string_view schemata) {
  const auto wanted = parse_line(line);
  if (!wanted)
    return refuse("schema \"{}\": must be a resource and its domains, such as \"L3:0=7f0;1=1f\"",
                  line);
  std::vector<Allocation> present;
  while (!schemata.empty())
    if (const auto allocations = parse_line(cut(schemata, '\n')))
      present.insert(present.end(), allocations->begin(), allocations->end());
  return std::ranges::all_of(*wanted, [&](const Allocation& allocation) {
    return std::ranges::find(present, allocation) != present.end();
  });
}

std::vector<std::string> schemata_of(std::string_view schemata,
                                     const std::vector<std::string>& lines) {
  std::vector<std::string> found;
  while (!schemata.empty()) {
    const std::string_view line = trim(cut(schemata, '\n'));
    const std::string_view resource = line.substr(0, line.find(':'));
    const bool asked = std::ranges::any_of(lines, [&](std::string_view wanted) {
      return trim(wanted.substr(0, wanted.find(':'))) == resource;
    });
    if (asked && !line.empty()) found.emplace_back(line);
  }
  return found;
}

}  // namespace ocirun::linux
