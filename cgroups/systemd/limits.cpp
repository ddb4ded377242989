#include "cgroups/systemd/limits.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <limits>

#include "cgroups/hierarchies/text.hpp"
#include "cgroups/plan/device_rules.hpp"
#include "linux/base/number_set.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::uint64_t kInfinity = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kSecond = 1'000'000;  // in microseconds
constexpr std::uint64_t kPercent = kSecond / 100;

/// The format of the value in a cgroup file.
enum class Form {
  kLimit,  // a number; "max" or "-1": unlimited
  kTasks,
  kSet,  // "0-3,7"
  kIdle,
  kWeights,  // "N", "default N", or "MAJOR:MINOR N"
  kRates,    // "MAJOR:MINOR rbps=N …"
  kQuotaAndPeriod,
  kQuota,
  kPeriod,
};

struct Row {
  std::string_view file, property;
  Form form;
  unsigned since;  // the first systemd version with the property; 0: older than 230
  CgroupVersion version;
};
constexpr CgroupVersion kV1 = CgroupVersion::kV1, kV2 = CgroupVersion::kV2;
constexpr Row kRows[] = {
    {"memory.max", "MemoryMax", Form::kLimit, 231, kV2},
    {"memory.high", "MemoryHigh", Form::kLimit, 231, kV2},
    {"memory.low", "MemoryLow", Form::kLimit, 231, kV2},
    {"memory.min", "MemoryMin", Form::kLimit, 240, kV2},
    {"memory.swap.max", "MemorySwapMax", Form::kLimit, 232, kV2},
    {"cpu.weight", "CPUWeight", Form::kLimit, 232, kV2},
    {"cpu.idle", "CPUWeight", Form::kIdle, 252, kV2},
    {"cpu.max", "CPUQuotaPerSecUSec", Form::kQuotaAndPeriod, 0, kV2},
    {"cpuset.cpus", "AllowedCPUs", Form::kSet, 244, kV2},
    {"cpuset.mems", "AllowedMemoryNodes", Form::kSet, 244, kV2},
    {"io.weight", "IOWeight", Form::kWeights, 230, kV2},
    {"io.max", "", Form::kRates, 230, kV2},
    {"pids.max", "TasksMax", Form::kTasks, 0, kV2},
    {"memory.limit_in_bytes", "MemoryLimit", Form::kLimit, 0, kV1},
    {"cpu.shares", "CPUShares", Form::kLimit, 0, kV1},
    {"cpu.cfs_quota_us", "CPUQuotaPerSecUSec", Form::kQuota, 0, kV1},
    {"cpu.cfs_period_us", "CPUQuotaPeriodUSec", Form::kPeriod, 242, kV1},
    {"blkio.weight", "BlockIOWeight", Form::kLimit, 0, kV1},
    {"pids.max", "TasksMax", Form::kTasks, 0, kV1},
};

constexpr std::pair<std::string_view, std::string_view> kRateKeys[] = {
    {"rbps=", "IOReadBandwidthMax"},
    {"wbps=", "IOWriteBandwidthMax"},
    {"riops=", "IOReadIOPSMax"},
    {"wiops=", "IOWriteIOPSMax"}};

std::uint64_t limit_of(std::string_view text) { return number(text).value_or(kInfinity); }

/// systemd rounds CPUQuotaPerSecUSec to whole percents of a CPU. This function rounds up, so that
/// systemd never sets a lower quota than the requested quota.
std::uint64_t quota_per_second(std::uint64_t quota, std::uint64_t period) {
  if (quota == kInfinity || period == 0 || quota > kInfinity / kSecond) return kInfinity;
  const std::uint64_t exact = quota * kSecond / period;
  return (exact + kPercent - 1) / kPercent * kPercent;
}

std::string device_path(std::string_view numbers) { return fmt::format("/dev/block/{}", numbers); }

/// Converts a set of CPUs or memory nodes to systemd's bytes: number N is bit N % 8 of byte N / 8.
std::vector<std::string> bytes_of(const linux::NumberSet& set) {
  std::vector<std::string> bytes;
  for (const unsigned long word : set.words())
    for (unsigned shift = 0; shift < 64; shift += 8)
      bytes.push_back(fmt::to_string((word >> shift) & 0xff));
  while (!bytes.empty() && bytes.back() == "0") bytes.pop_back();
  return bytes;
}

class Collector {
 public:
  Collector(CgroupVersion version, std::uint64_t period) : version_(version), period_(period) {}

  void add(std::string_view file, std::string_view value) {
    const auto row = std::ranges::find_if(
        kRows, [&](const Row& r) { return r.file == file && r.version == version_; });
    if (row != std::end(kRows)) add(*row, value);
  }

  std::vector<UnitProperty> take() {
    if (quota_) set("CPUQuotaPerSecUSec", 0, quota_per_second(*quota_, period_));
    return std::move(properties_);
  }

 private:
  void add(const Row& row, std::string_view value) {
    const auto parts = words(value);
    if (parts.empty()) return;
    switch (row.form) {
      case Form::kLimit:
        return set(row.property, row.since, limit_of(parts.front()));
      case Form::kTasks:
        return set(row.property, row.since, std::max<std::uint64_t>(1, limit_of(parts.front())));
      case Form::kIdle:  // CPUWeight: 0 means idle, infinity resets the weight
        return set(row.property, row.since, parts.front() == "1" ? 0 : kInfinity);
      case Form::kSet:
        if (const auto numbers = linux::NumberSet::parse(value))
          put({std::string(row.property), "ay", bytes_of(*numbers), row.since});
        return;
      case Form::kWeights:
        if (parts.size() == 1 || parts.front() == "default")
          return set(row.property, row.since, limit_of(parts.back()));
        return add_device("IODeviceWeight", parts.front(), limit_of(parts.back()));
      case Form::kRates:
        for (const std::string_view part : std::span(parts).subspan(1))
          for (const auto& [key, property] : kRateKeys)
            if (part.starts_with(key))
              add_device(property, parts.front(), limit_of(part.substr(key.size())));
        return;
      case Form::kQuotaAndPeriod:
        quota_ = limit_of(parts.front());
        if (parts.size() == 1) return;
        [[fallthrough]];
      case Form::kPeriod:
        period_ = limit_of(parts.back());
        return set("CPUQuotaPeriodUSec", 242, period_);
      case Form::kQuota:
        quota_ = limit_of(parts.front());
        return;
    }
  }

  void set(std::string_view name, unsigned since, std::uint64_t value) {
    put({std::string(name), "t", {fmt::to_string(value)}, since});
  }
  /// Adds a property. The property replaces an earlier property of the same name.
  void put(UnitProperty property) {
    std::erase_if(properties_, [&](const UnitProperty& p) { return p.name == property.name; });
    properties_.push_back(std::move(property));
  }
  void add_device(std::string_view name, std::string_view numbers, std::uint64_t value) {
    auto property = std::ranges::find(properties_, name, &UnitProperty::name);
    if (property == properties_.end())
      property = properties_.insert(property, {std::string(name), "a(st)", {}, 230});
    property->values.push_back(device_path(numbers));
    property->values.push_back(fmt::to_string(value));
  }

  CgroupVersion version_;
  std::uint64_t period_;
  std::optional<std::uint64_t> quota_;
  std::vector<UnitProperty> properties_;
};

/// Converts "c 1:3 rwm" to "/dev/char/1:3", "c 136:* rwm" to "char-136", and "c *:* rwm" to
/// "char-*".
Result<std::string> device_name(std::string_view rule) {
  const auto parts = words(rule);
  const auto numbers = split(parts[1], ':');
  const bool block = parts[0] == "b";
  if (numbers[1] != "*" && numbers[0] != "*")
    return fmt::format("/dev/{}/{}", block ? "block" : "char", parts[1]);
  if (numbers[1] == "*") return fmt::format("{}-{}", block ? "block" : "char", numbers[0]);
  return refuse(
      "/linux/resources/devices: systemd cannot allow \"{}\" on cgroup v1: name the major number",
      rule);
}

std::vector<UnitProperty> common_properties(const std::string& description, CgroupVersion version) {
  std::vector<UnitProperty> properties{{"Description", "s", {description}, 0},
                                       // With default dependencies, systemd would stop the unit at
                                       // shutdown before the container engine.
                                       {"DefaultDependencies", "b", {"false"}, 0}};
  for (const std::string_view name :
       {"CPUAccounting", "MemoryAccounting", "TasksAccounting",
        version == CgroupVersion::kV2 ? "IOAccounting" : "BlockIOAccounting"})
    properties.push_back({std::string(name), "b", {"true"}, 0});
  return properties;
}

}  // namespace

std::vector<UnitProperty> limit_properties(std::span<const Write> writes, CgroupVersion version,
                                           std::uint64_t period) {
  Collector collector(version, period);
  for (const Write& write : writes) {
    collector.add(write.file, write.value);
    if (!write.other_file.empty()) collector.add(write.other_file, write.other_value);
  }
  return collector.take();
}

Result<std::vector<UnitProperty>> device_properties(std::span<const DeviceRule> rules) {
  OCIRUN_TRY_ASSIGN(const std::vector<Write> writes, plan_device_rules_v1(rules));
  const bool allow_all = writes.front().file == "devices.allow";
  if (allow_all && writes.size() > 1)
    return refuse(
        "/linux/resources/devices: systemd cannot deny single devices on cgroup v1: deny all and "
        "allow the rest, or use --cgroup-manager=cgroupfs");
  UnitProperty allowed{"DeviceAllow", "a(ss)", {}, 0};
  for (const Write& write : std::span(writes).subspan(1)) {
    OCIRUN_TRY_ASSIGN(std::string name, device_name(write.value));
    allowed.values.push_back(std::move(name));
    allowed.values.emplace_back(words(write.value).back());
  }
  // The empty DeviceAllow clears the devices of an earlier request.
  return std::vector<UnitProperty>{{"DevicePolicy", "s", {allow_all ? "auto" : "strict"}, 0},
                                   {"DeviceAllow", "a(ss)", {}, 0},
                                   std::move(allowed)};
}

std::vector<UnitProperty> scope_properties(const std::string& slice, const std::string& id,
                                           CgroupVersion version) {
  std::vector<UnitProperty> properties = common_properties("ocirun container " + id, version);
  properties.push_back({"Slice", "s", {slice}, 0});
  properties.push_back({"Delegate", "b", {"true"}, 0});
  return properties;
}

std::vector<UnitProperty> slice_properties(const std::string& description, CgroupVersion version) {
  return common_properties(description, version);
}

}  // namespace ocirun::cgroups
