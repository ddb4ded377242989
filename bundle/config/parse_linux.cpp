// Members of `linux` without a parse_*.cpp of their own (docs/requirements.md: L-30 … L-37, R-1,
// I-1 … I-7).

#include <sys/personality.h>

#include <algorithm>
#include <array>

#include "bundle/config/sections.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

using linux::IntelRdt;
using linux::MemoryPolicy;
using linux::Propagation;

/// L-30: clients of runc also send names with a leading "r", such as "rslave". "" is the same as
/// absent.
bool read_propagation(Value at, Config& out) {
  struct Row {
    std::string_view name;
    Propagation propagation;
  };
  constexpr std::array kRows{Row{"shared", Propagation::kShared}, Row{"slave", Propagation::kSlave},
                             Row{"private", Propagation::kPrivate},
                             Row{"unbindable", Propagation::kUnbindable}};
  std::string name;
  if (!text(at, name)) return false;
  if (name.empty()) return true;
  out.rootfs_propagation_recursive = name.starts_with('r');
  const auto* row = std::ranges::find(
      kRows, std::string_view(name).substr(out.rootfs_propagation_recursive ? 1 : 0), &Row::name);
  if (row == kRows.end()) {
    constexpr std::array<std::string_view, 4> kNames{"shared", "slave", "private", "unbindable"};
    unknown_word(at, "propagation", kNames);
    return false;
  }
  out.rootfs_propagation = row->propagation;
  return true;
}

/// the path must not lead out of the cgroup hierarchy. "" is the same as absent.
bool read_cgroups_path(Value at, Config& out) {
  std::string path;
  if (!text(at, path)) return false;
  if (path.empty()) return true;
  const std::string slashes = fmt::format("/{}/", path);
  if (slashes.contains("/../")) {
    at.problem("must not contain \"..\": {}", found(at));
    return false;
  }
  out.cgroups_path = std::move(path);
  return true;
}

/// L-35.
bool read_sysctls(Value at, std::vector<linux::Sysctl>& out) {
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value item : at) {
    std::string value;
    if (!text(item, value)) {
      good = false;
      continue;
    }
    auto sysctl = linux::parse_sysctl(item.key(), std::move(value));
    if (sysctl) {
      out.push_back(*std::move(sysctl));
    } else {
      item.problem("{}", reason(sysctl.error()));
      good = false;
    }
  }
  return good;
}

/// L-36: the specification defines two domains, and no flags.
std::optional<unsigned long> personality_domain(std::string_view name) {
  if (name == "LINUX") return PER_LINUX;
  if (name == "LINUX32") return PER_LINUX32;
  return {};
}
std::vector<std::string_view> personality_domains() { return {"LINUX", "LINUX32"}; }

constexpr auto kPersonality = fields<Config>(
    required("domain", &Config::personality,
             word("domain", personality_domain, personality_domains)),
    part("flags", [](Value at, Config&) {
      if (!at.expect_list()) return false;
      for (const Value item : at)
        item.problem("unknown flag {}: the specification defines no flag", found(item));
      return at.begin() == at.end();
    }));

/// L-37: checks that the nodes fit the mode of set_mempolicy(2), and that the flags do not exclude
/// each other.
void check_memory_policy(Value at, const MemoryPolicy& policy) {
  const auto is = [&](std::string_view name) {
    return linux::memory_policy_mode(name) == policy.mode;
  };
  if (is("MPOL_DEFAULT") || is("MPOL_LOCAL")) {
    if (!policy.nodes.empty()) at.problem_at("nodes", "must be empty with this mode");
  } else if (!is("MPOL_PREFERRED") && policy.nodes.empty()) {
    at.problem_at("nodes", "is missing: this mode needs a list such as \"0-1\"");
  }
  const unsigned fixed = *linux::memory_policy_flag("MPOL_F_STATIC_NODES");
  const unsigned relative = *linux::memory_policy_flag("MPOL_F_RELATIVE_NODES");
  if ((policy.flags & fixed) != 0 && (policy.flags & relative) != 0)
    at.problem_at("flags", "MPOL_F_STATIC_NODES and MPOL_F_RELATIVE_NODES exclude each other");
}

constexpr auto kMemoryPolicy = checked(
    fields<MemoryPolicy>(
        required("mode", &MemoryPolicy::mode,
                 word("mode", linux::memory_policy_mode, linux::memory_policy_modes)),
        field("nodes", &MemoryPolicy::nodes, number_set),
        field("flags", &MemoryPolicy::flags,
              flags_of(word("flag", linux::memory_policy_flag, linux::memory_policy_flags)))),
    check_memory_policy);

/// I-3: the name of a resctrl group's directory, or "/" for the root group.
bool clos_id(Value at, IntelRdt& out) {
  std::string name;
  if (!text(at, name)) return false;
  if (name.empty()) return true;  // the same as absent
  if (!linux::is_clos_name(name)) {
    at.problem("must be \"/\" or one directory name that resctrl does not use itself, not {}",
               found(at));
    return false;
  }
  out.clos_id = std::move(name);
  return true;
}

/// I-7: a line of a schemata file.
bool schema_line(Value at, std::string& out) {
  if (!text(at, out)) return false;
  if (!out.contains('\n')) return true;
  at.problem("must be one line, not {}", found(at));
  return false;
}

bool memory_schema(Value at, std::string& out) {
  if (!schema_line(at, out)) return false;
  if (out.starts_with("MB:")) return true;
  at.problem("must begin with \"MB:\", not {}", found(at));
  return false;
}

bool cache_schema(Value at, std::string& out) {
  if (!text(at, out)) return false;
  if (!out.starts_with("L3:") && !out.starts_with("L3CODE:") && !out.starts_with("L3DATA:"))
    at.warning("should begin with \"L3:\", not {}", found(at));
  return true;
}

constexpr auto kIntelRdt = fields<IntelRdt>(
    part("closID", clos_id), field("l3CacheSchema", &IntelRdt::l3_cache_schema, cache_schema),
    field("memBwSchema", &IntelRdt::mem_bw_schema, memory_schema),
    field("schemata", &IntelRdt::schemata, list_of(schema_line)),
    field("enableMonitoring", &IntelRdt::enable_monitoring, flag), without_effect("enableCMT"),
    without_effect("enableMBM"));  // I-10: only specification 1.1 and 1.2 have these two members

constexpr auto kLinux = fields<Config>(
    field("namespaces", &Config::namespaces, read_namespaces),
    part("uidMappings",
         [](Value at, Config& out) { return read_id_mappings(at, out.id_map.uids); }),
    part("gidMappings",
         [](Value at, Config& out) { return read_id_mappings(at, out.id_map.gids); }),
    field("timeOffsets", &Config::time_offsets, read_time_offsets),
    field("devices", &Config::devices, list_of(read_device)),
    field("netDevices", &Config::net_devices, read_net_devices),
    part("cgroupsPath", read_cgroups_path), field("resources", &Config::resources, read_resources),
    field("intelRdt", &Config::intel_rdt, kIntelRdt),
    field("seccomp", &Config::seccomp, read_seccomp), part("rootfsPropagation", read_propagation),
    field("maskedPaths", &Config::masked_paths, list_of(absolute_path)),      // L-31
    field("readonlyPaths", &Config::readonly_paths, list_of(absolute_path)),  // L-32
    field("sysctl", &Config::sysctls, read_sysctls),
    field("mountLabel", &Config::mount_label, text),  // L-34
    part("personality", kPersonality),
    field("memoryPolicy", &Config::memory_policy, kMemoryPolicy));

}  // namespace

bool read_linux(Value at, Config& out) { return kLinux(at, out); }

// `linux.namespaces`, `uidMappings`, `gidMappings`, `timeOffsets` (docs/requirements.md: L-1 …
// L-12).

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

/// L-3: the path is absolute. L-2: "" is the same as absent, because Go clients send "".
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
