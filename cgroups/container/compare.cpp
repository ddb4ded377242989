#include "cgroups/container/compare.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "cgroups/container/apply.hpp"
#include "cgroups/container/devices_bpf.hpp"
#include "cgroups/container/host_cgroup.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "cgroups/plan/device_rules.hpp"
#include "cgroups/statistics/stats.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/number_set.hpp"

namespace ocirun::cgroups {
namespace {

/// The same text as in the parent's file.
constexpr std::string_view kOfParent = "(parent)";
/// v1 shows a limit that nobody has set as a number near 2^63.
constexpr std::string_view kUnlimited = "unlimited";
/// A file, and its text in a new cgroup.
struct Unset {
  std::string_view controller, file, text;
};

constexpr Unset kUnsetV1[] = {
    {"memory", "memory.limit_in_bytes", kUnlimited},
    {"memory", "memory.soft_limit_in_bytes", kUnlimited},
    {"memory", "memory.memsw.limit_in_bytes", kUnlimited},
    {"memory", "memory.kmem.tcp.limit_in_bytes", kUnlimited},
    {"cpu", "cpu.shares", "1024"},
    {"cpu", "cpu.cfs_quota_us", "-1"},
    {"cpu", "cpu.cfs_period_us", "100000"},
    {"cpu", "cpu.cfs_burst_us", "0"},
    {"cpu", "cpu.idle", "0"},
    {"cpu", "cpu.rt_runtime_us", "0"},
    {"cpuset", "cpuset.cpus", kOfParent},
    {"cpuset", "cpuset.mems", kOfParent},
    {"pids", "pids.max", "max"},
    {"blkio", "blkio.throttle.read_bps_device", ""},
    {"blkio", "blkio.throttle.write_bps_device", ""},
    {"blkio", "blkio.throttle.read_iops_device", ""},
    {"blkio", "blkio.throttle.write_iops_device", ""},
    {"net_cls", "net_cls.classid", "0"},
};

constexpr Unset kUnsetV2[] = {
    {"memory", "memory.max", "max"},
    {"memory", "memory.high", "max"},
    {"memory", "memory.low", "0"},
    {"memory", "memory.min", "0"},
    {"memory", "memory.swap.max", "max"},
    {"memory", "memory.swap.high", "max"},
    {"memory", "memory.zswap.max", "max"},
    {"cpu", "cpu.max", "max 100000"},
    {"cpu", "cpu.max.burst", "0"},
    {"cpu", "cpu.weight", "100"},
    {"cpu", "cpu.idle", "0"},
    {"cpu", "cpu.uclamp.min", "0.00"},
    {"cpu", "cpu.uclamp.max", "max"},
    {"cpuset", "cpuset.cpus", ""},
    {"cpuset", "cpuset.mems", ""},
    {"io", "io.max", ""},
    {"io", "io.latency", ""},
    {"io", "io.weight", "default 100"},
    {"pids", "pids.max", "max"},
};

/// A number as the kernel reads it: "64M" is 67108864.
std::optional<std::uint64_t> bytes_of(std::string_view text) {
  constexpr std::string_view kUnits = "KMGT";
  int shift = 0;
  if (const std::size_t unit = text.empty() ? kUnits.npos : kUnits.find(linux::upper(text.back()));
      unit != kUnits.npos) {
    shift = 10 * (static_cast<int>(unit) + 1);
    text.remove_suffix(1);
  }
  const auto value = number(text);
  return value ? std::optional(*value << shift) : std::nullopt;
}

/// Whether the kernel shows `asked` as `found`. A number of bytes is rounded down to whole pages.
bool is_shown_as(std::string_view file, std::string_view asked, std::string_view found) {
  if (asked == found) return true;
  if (file.starts_with("cpuset.")) {
    const auto a = linux::NumberSet::parse(asked);
    const auto b = linux::NumberSet::parse(found);
    return a && b && a->words() == b->words();
  }
  const auto shown = number(found);
  if (asked == "-1" || asked == "max") return shown && is_unlimited(*shown);
  if (const auto wanted = bytes_of(asked); wanted && shown) {
    if (*wanted == *shown) return true;
    if (file == "cpu.shares") return std::clamp<std::uint64_t>(*wanted, 2, 262'144) == *shown;
    std::uint64_t page = 1;
    if (file.starts_with("memory.")) page = static_cast<std::uint64_t>(::getpagesize());
    if (file.starts_with("hugetlb."))  // "hugetlb.2MB.max"
      page = bytes_of(split(file, '.')[1].substr(0, split(file, '.')[1].size() - 1)).value_or(1);
    return is_unlimited(*shown) ? is_unlimited(*wanted) : *wanted - *wanted % page == *shown;
  }
  // "8:0 rbps=1048576" is a part of "8:0 rbps=1048576 wbps=max riops=max wiops=max".
  const auto has = words(found);
  return has.size() > 1 && std::ranges::all_of(words(asked), [&](std::string_view word) {
           return contains(has, word);
         });
}

bool is_unset(std::string_view expected, std::string_view found, const Directory& parent,
              const std::string& file) {
  const auto shown = number(found);
  if (expected == kUnlimited) return shown && is_unlimited(*shown);
  if (expected == kOfParent) return found == parent.read_or_empty(file);
  return found == expected || (expected == "max" && shown && is_unlimited(*shown));
}

/// The node whose file has the limit; nullptr if the host has none.
const Node* node_with(std::span<const Node> nodes, std::string_view controller) {
  const Node* const node = controller.empty() ? nullptr : find_v1(nodes, controller);
  return node != nullptr ? node : find_unified(nodes);
}

/// The writes of the plan, the last one for each file and device.
std::vector<Write> last_writes(std::vector<Write> writes) {
  std::vector<Write> last;
  const auto key_of = [](const Write& write) {
    const auto line = words(write.value);
    return write.file +
           (line.size() > 1 && line[0].find(':') != line[0].npos ? " " + std::string(line[0]) : "");
  };
  for (Write& write : writes) {
    const std::string key = key_of(write);
    std::erase_if(last, [&](const Write& earlier) { return key_of(earlier) == key; });
    last.push_back(std::move(write));
  }
  return last;
}

/// The values of one kind of hierarchy that nobody asked for.
Result<void> add_unasked(const Node& node, std::span<const Unset> table,
                         std::vector<LimitFound>& limits) {
  OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
  OCIRUN_TRY_ASSIGN(const Directory parent, Directory::open(parent_of(node.path())));
  for (const Unset& unset : table) {
    const std::string file(unset.file);
    if (!node.unified() && !node.has(unset.controller)) continue;
    const bool is_asked =
        std::ranges::any_of(limits, [&](const LimitFound& limit) { return limit.file == file; });
    if (is_asked) continue;
    const auto text = directory->read(file);
    if (!text) continue;  // many kernels lack some of the files
    std::string found = *text;
    while (found.ends_with('\n')) found.pop_back();
    if (!is_unset(unset.text, found, parent, file))
      limits.push_back({.file = file, .pointer = "", .asked = "", .found = found});
  }
  return {};
}

/// v1: the exceptions of devices.list, as "c 1:3" and its letters.
using Exceptions = std::map<std::string, std::string>;

void add_exception(Exceptions& exceptions, std::string_view line) {
  const auto parts = words(line);
  if (parts.size() != 3) return;
  std::string letters(parts[2]);
  std::ranges::sort(letters);
  exceptions[fmt::format("{} {}", parts[0], parts[1])] = letters;
}

/// devices.list shows "a *:* rwm" while everything is allowed by default, and no exceptions then.
Result<bool> has_rules_v1(const Directory& directory, std::span<const DeviceRule> rules) {
  OCIRUN_TRY_ASSIGN(const std::vector<Write> writes, plan_device_rules_v1(rules));
  Exceptions asked;
  for (const Write& write : writes) {
    if (write.value == "a" && write.file == "devices.allow") {
      asked = {{"a *:*", "mrw"}};
      break;
    }
    add_exception(asked, write.value);
  }
  OCIRUN_TRY_ASSIGN(const std::string list, directory.read("devices.list"));
  Exceptions found;
  for (const std::string_view line : words(list, '\n')) add_exception(found, line);
  return asked == found;
}

}  // namespace

Result<std::vector<LimitFound>> compare_limits(const Record& record, const Resources& resources) {
  const std::vector<Node> nodes = nodes_of(record);
  OCIRUN_TRY_ASSIGN(std::vector<Write> writes, HostCgroup(record).plan_for_new(resources));
  writes = last_writes(std::move(writes));
  std::vector<LimitFound> limits;
  // The kernel shows a share of its own for an idle cgroup.
  const bool is_idle = std::ranges::any_of(
      writes, [](const Write& write) { return write.file == "cpu.idle" && write.value == "1"; });
  const auto is_share = [](std::string_view file) {
    return file == "cpu.shares" || file == "cpu.weight";
  };
  for (const Write& write : writes) {
    if (is_idle && is_share(write.file)) continue;
    const Node* const node = node_with(nodes, write.controller);
    if (node == nullptr) continue;
    OCIRUN_TRY_ASSIGN(const Directory* directory, node->directory());
    LimitFound limit{
        .file = write.file, .pointer = write.pointer, .asked = write.value, .found = ""};
    const auto text = directory->read(write.file);
    if (!text && write.if_missing != IfMissing::kError) continue;
    if (!text && !write.other_file.empty()) {
      limit.file = write.other_file;
      limit.asked = write.other_value;
    } else if (!text) {
      limit.found = text.error().message();
      limits.push_back(std::move(limit));
      continue;
    }
    limit.found = restoring_value(limit.file, directory->read_or_empty(limit.file), limit.asked);
    if (limit.found == "\n") limit.found.clear();
    limit.is_same = is_shown_as(limit.file, limit.asked, limit.found);
    limits.push_back(std::move(limit));
  }
  for (const Node& node : nodes)
    OCIRUN_TRY(add_unasked(
        node, node.unified() ? std::span<const Unset>(kUnsetV2) : std::span<const Unset>(kUnsetV1),
        limits));
  if (is_idle) std::erase_if(limits, [&](const LimitFound& limit) { return is_share(limit.file); });
  return limits;
}

Result<std::optional<bool>> has_device_rules(const Record& record,
                                             std::span<const DeviceRule> rules) {
  const std::vector<Node> nodes = nodes_of(record);
  if (const Node* const v1 = find_v1(nodes, "devices"); v1 != nullptr) {
    OCIRUN_TRY_ASSIGN(const Directory* directory, v1->directory());
    OCIRUN_TRY_ASSIGN(const bool has_rules, has_rules_v1(*directory, rules));
    return std::optional(has_rules);
  }
  const Node* const unified = find_unified(nodes);
  if (unified == nullptr) return std::optional<bool>();
  OCIRUN_TRY_ASSIGN(const Directory* directory, unified->directory());
  const auto has_program = has_device_program(*directory, rules);
  return has_program ? std::optional(*has_program) : std::nullopt;
}

}  // namespace ocirun::cgroups
