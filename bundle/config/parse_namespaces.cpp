// `linux.namespaces`, `uidMappings`, `gidMappings`, `timeOffsets` (matrix L-1 … L-12).

#include <algorithm>

#include "bundle/config/sections.hpp"

namespace ocirun::bundle {
namespace {

std::optional<linux::NamespaceKind> namespace_kind(std::string_view name) {
  const auto* kind = std::ranges::find(linux::kNamespaceKinds, name, linux::config_name);
  if (kind == linux::kNamespaceKinds.end()) return {};
  return *kind;
}
std::vector<std::string_view> namespace_names() {
  std::vector<std::string_view> names;
  for (const linux::NamespaceKind kind : linux::kNamespaceKinds)
    names.push_back(linux::config_name(kind));
  return names;
}

/// L-3; L-2: "" is the same as absent (Go clients).
bool namespace_path(Value at, std::optional<HostPath>& out) {
  if (at.node().is_string() && at.node().text.empty()) return true;
  return absolute_path(at, out.emplace());
}

constexpr auto kNamespace = fields<linux::Namespace>(
    required("type", &linux::Namespace::kind,
             word("namespace type", namespace_kind, namespace_names)),  // L-1
    part("path", [](Value at, linux::Namespace& out) { return namespace_path(at, out.path); }));

constexpr auto kMapping =
    fields<linux::IdMapping>(required("containerID", &linux::IdMapping::container_id, whole_number),
                             required("hostID", &linux::IdMapping::host_id, whole_number),
                             required("size", &linux::IdMapping::size, whole_number));

constexpr auto kOffset = fields<linux::TimeOffset>(
    field("secs", &linux::TimeOffset::seconds, whole_number),
    field("nanosecs", &linux::TimeOffset::nanoseconds, range(0, 999'999'999)));

}  // namespace

bool read_namespaces(Value at, linux::NamespaceSet& out) {
  if (!at.expect_list()) return false;
  bool good = true;
  for (const Value item : at) {
    linux::Namespace entry{};
    if (!kNamespace(item, entry)) {
      good = false;
    } else if (out.contains(entry.kind)) {  // L-5
      item.problem_at("type", "the {} namespace is listed twice", linux::config_name(entry.kind));
      good = false;
    } else if (const auto added = out.add(std::move(entry)); !added) {
      item.problem("{}", reason(added.error()));
      good = false;
    }
  }
  return good;
}

bool read_id_mappings(Value at, std::vector<linux::IdMapping>& out) {
  if (!list_of(kMapping)(at, out)) return false;
  if (out.empty()) return true;
  const auto checked = linux::check_id_mappings(out);
  if (!checked) at.problem("{}", reason(checked.error()));
  return checked.has_value();
}

bool read_time_offsets(Value at, std::vector<linux::TimeOffset>& out) {
  using Clock = linux::TimeOffset::Clock;
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value item : at) {
    if (item.is_null()) continue;
    const bool monotonic = item.key() == "monotonic";
    if (!monotonic && item.key() != "boottime") {
      item.problem("unknown clock (known: monotonic, boottime)");
      good = false;
      continue;
    }
    linux::TimeOffset offset{.clock = monotonic ? Clock::kMonotonic : Clock::kBoottime};
    good &= kOffset(item, offset);
    out.push_back(offset);
  }
  return good;
}

}  // namespace ocirun::bundle
