// `linux.resources` (docs/requirements.md: R-10 … R-43), read and written by the same tables.
// Clients send 0 for "not set" in some members: such a member stays empty.

#include <algorithm>

#include "bundle/config/config.hpp"
#include "bundle/config/oci_version.hpp"
#include "bundle/config/sections.hpp"
#include "bundle/json/record.hpp"
#include "cgroups/hierarchies/text.hpp"

namespace ocirun::bundle {
namespace {

using cgroups::BlockIo;
using cgroups::Cpu;
using cgroups::DeviceRule;
using cgroups::Memory;
using cgroups::Resources;

constexpr std::int64_t kMostMajor = INT32_MAX;

/// checked(), for a table that is also written.
template <typename Table, typename Rule>
struct CheckedTable {
  Table table;
  Rule rule;
  bool operator()(Value at, auto& out) const { return checked(table, rule)(at, out); }
  void write(JsonWriter& out, const auto& value) const { write_record(out, table, value); }
};

/// a, b or c; "" is the default.
struct DeviceType {
  bool operator()(Value at, char& out) const {
    std::string type;
    if (!text(at, type)) return false;
    if (type.empty()) return true;
    if (type != "a" && type != "b" && type != "c") {
      at.problem("unknown device type {} (known: a, b, c)", found(at));
      return false;
    }
    out = type[0];
    return true;
  }
  static void write(JsonWriter& out, char type) { out.value(std::string_view(&type, 1)); }
};

/// Letters of "rwm" in any order.
struct DeviceAccess {
  bool operator()(Value at, DeviceRule& out) const {
    std::string letters;
    if (!text(at, letters)) return false;
    if (letters.find_first_not_of("rwm") != std::string::npos) {
      at.problem("must be letters of \"rwm\", not {}", found(at));
      return false;
    }
    out.read = letters.contains('r');
    out.write = letters.contains('w');
    out.mknod = letters.contains('m');
    return true;
  }
  static void write_member(JsonWriter& out, std::string_view key, const DeviceRule& rule) {
    out.member(key, fmt::format("{}{}{}", rule.read ? "r" : "", rule.write ? "w" : "",
                                rule.mknod ? "m" : ""));
  }
};

constexpr CheckedTable kDeviceRule{
    fields<DeviceRule>(required("allow", &DeviceRule::allow, flag),
                       written("type", &DeviceRule::type, DeviceType()),
                       field("major", &DeviceRule::major, range(-1, kMostMajor)),
                       field("minor", &DeviceRule::minor, range(-1, kMostMajor)),
                       part("access", DeviceAccess())),
    [](Value at, DeviceRule& out) {
      // -1 is the same as an absent number: the rule is for all numbers.
      if (out.major == -1) out.major.reset();
      if (out.minor == -1) out.minor.reset();
      if (out.read || out.write || out.mknod) return;
      if (out.allow)
        at.problem_at("access", "must hold at least one letter of \"rwm\" when allow is true");
      else
        out.read = out.write = out.mknod = true;  // a denial without letters denies all access
    }};

constexpr auto kMemory =
    fields<Memory>(field("limit", &Memory::limit, bytes_or_unlimited),
                   field("reservation", &Memory::reservation, bytes_or_unlimited),
                   field("swap", &Memory::swap, bytes_or_unlimited),
                   field("kernel", &Memory::kernel, bytes_or_unlimited),
                   field("kernelTCP", &Memory::kernel_tcp, bytes_or_unlimited),
                   field("swappiness", &Memory::swappiness, range(0, 100)),
                   field("disableOOMKiller", &Memory::disable_oom_killer, flag),
                   field("useHierarchy", &Memory::use_hierarchy, flag),
                   field("checkBeforeUpdate", &Memory::check_before_update, flag));

/// A list such as "0-3,7"; "" is the same as absent.
bool number_list(Value at, std::string& out) {
  linux::NumberSet set;
  if (text(at, out) && number_set(at, set)) return true;
  out.clear();
  return false;
}

using cgroups::kLeastQuota, cgroups::kMostQuota;

/// The kernel of cgroup v1 takes any negative number for -1. Clients send 0 for "not set".
constexpr auto cpu_quota = [](Value at, std::int64_t& out) {
  if (!whole_number(at, out)) return false;
  if (out == 0 || out == -1 || (out >= kLeastQuota && out <= kMostQuota)) return true;
  at.problem("must be from {} to {} microseconds, or -1 for no limit, not {}", kLeastQuota,
             kMostQuota, out);
  return false;
};

constexpr auto kCpu = fields<Cpu>(
    field("shares", &Cpu::shares, whole_number),
    field("quota", &Cpu::quota, cpu_quota),
    field("burst", &Cpu::burst, range(0, kMostQuota)),
    field("period", &Cpu::period, whole_number),
    field("realtimeRuntime", &Cpu::realtime_runtime, whole_number),
    field("realtimePeriod", &Cpu::realtime_period, whole_number),
    field("cpus", &Cpu::cpus, number_list),
    field("mems", &Cpu::mems, number_list), field("idle", &Cpu::idle, range(0, 1)));

/// 10 to 1000. Clients send 0 for "not set".
constexpr auto weight = [](Value at, std::uint16_t& out) {
  const auto value = unsigned_number(at, 0, 1000);
  if (!value) return false;
  if (*value != 0 && *value < 10) {
    at.problem("must be from 10 to 1000, not {}", *value);
    return false;
  }
  out = static_cast<std::uint16_t>(*value);
  return true;
};

constexpr Range device_part = range(0, kMostMajor);

constexpr CheckedTable kWeightDevice{
    fields<cgroups::WeightDevice>(required("major", &cgroups::WeightDevice::major, device_part),
                                  required("minor", &cgroups::WeightDevice::minor, device_part),
                                  field("weight", &cgroups::WeightDevice::weight, weight),
                                  field("leafWeight", &cgroups::WeightDevice::leaf_weight, weight)),
    [](Value at, const cgroups::WeightDevice& device) {
      if (!device.weight && !device.leaf_weight)
        at.problem("must hold weight or leafWeight, or both");
    }};

constexpr auto kThrottleDevices = list_of(fields<cgroups::ThrottleDevice>(
    required("major", &cgroups::ThrottleDevice::major, device_part),
    required("minor", &cgroups::ThrottleDevice::minor, device_part),
    required("rate", &cgroups::ThrottleDevice::rate, whole_number)));

constexpr auto kBlockIo =
    fields<BlockIo>(field("weight", &BlockIo::weight, weight),
                    field("leafWeight", &BlockIo::leaf_weight, weight),
                    field("weightDevice", &BlockIo::weight_devices, list_of(kWeightDevice)),
                    field("throttleReadBpsDevice", &BlockIo::read_bps, kThrottleDevices),
                    field("throttleWriteBpsDevice", &BlockIo::write_bps, kThrottleDevices),
                    field("throttleReadIOPSDevice", &BlockIo::read_iops, kThrottleDevices),
                    field("throttleWriteIOPSDevice", &BlockIo::write_iops, kThrottleDevices));

/// a page size as in the names of the kernel's hugetlb files: "64KB", "2MB", "1GB".
bool page_size(Value at, std::string& out) {
  if (!text(at, out)) return false;
  const std::size_t digits = std::min(out.find_first_not_of("0123456789"), out.size());
  const std::string_view unit = std::string_view(out).substr(digits);
  if (digits > 0 && out[0] != '0' && (unit == "KB" || unit == "MB" || unit == "GB")) return true;
  at.problem("must be a page size such as \"64KB\", \"2MB\" or \"1GB\", not {}", found(at));
  return false;
}

constexpr auto kHugepageLimit = fields<cgroups::HugepageLimit>(
    required("pageSize", &cgroups::HugepageLimit::page_size, page_size),
    required("limit", &cgroups::HugepageLimit::limit, whole_number));

bool one_word(Value at, std::string& out) {
  if (!text(at, out)) return false;
  if (cgroups::is_one_word(out)) return true;
  at.problem("must be a name without blanks, not {}", found(at));
  return false;
}

constexpr auto kNetworkPriority = fields<cgroups::NetworkPriority>(
    required("name", &cgroups::NetworkPriority::name, one_word),
    required("priority", &cgroups::NetworkPriority::priority, whole_number));

constexpr auto kNetwork = fields<cgroups::Network>(
    field("classID", &cgroups::Network::class_id, whole_number),
    field("priorities", &cgroups::Network::priorities, list_of(kNetworkPriority)));

constexpr CheckedTable kRdma{
    fields<cgroups::Rdma>(field("hcaHandles", &cgroups::Rdma::hca_handles, whole_number),
                          field("hcaObjects", &cgroups::Rdma::hca_objects, whole_number)),
    [](Value at, const cgroups::Rdma& rdma) {
      if (!rdma.hca_handles && !rdma.hca_objects)
        at.problem("must hold hcaHandles or hcaObjects, or both");
    }};

struct RdmaDevices {
  bool operator()(Value at, std::map<std::string, cgroups::Rdma>& out) const {
    if (!at.expect_object()) return false;
    bool good = true;
    for (const Value item : at) {
      if (item.is_null()) continue;
      if (!cgroups::is_one_word(item.key())) {
        item.problem("{} is no name of an RDMA device", in_quotes(item.key()));
        good = false;
        continue;
      }
      good &= kRdma(item, out[std::string(item.key())]);
    }
    return good;
  }
  static void write(JsonWriter& out, const std::map<std::string, cgroups::Rdma>& devices) {
    out.begin_object();
    for (const auto& [device, limits] : devices) kRdma.write(out.key(device), limits);
    out.end_object();
  }
};

/// names of cgroup v2 files, "controller.file".
struct UnifiedFiles {
  using Files = std::vector<std::pair<std::string, std::string>>;
  bool operator()(Value at, Files& out) const {
    if (!at.expect_object()) return false;
    bool good = true;
    for (const Value item : at) {
      auto& [file, value] = out.emplace_back();
      file = item.key();
      const std::size_t dot = file.find('.');
      if (file.find_first_of(std::string_view("/\0", 2)) != std::string::npos || dot == 0 ||
          dot == std::string::npos) {
        item.problem("{} is no name of a cgroup v2 file: it is <controller>.<file>, without \"/\"",
                     in_quotes(file));
        good = false;
      }
      good &= text(item, value);
    }
    return good;
  }
  static void write(JsonWriter& out, const Files& files) {
    out.begin_object();
    for (const auto& [file, value] : files) out.member(file, value);
    out.end_object();
  }
};

struct Pids {
  static constexpr auto kTable =
      fields<Resources>(required("limit", &Resources::pids_limit, bytes_or_unlimited));
  bool operator()(Value at, Resources& out) const { return kTable(at, out); }
  static void write_member(JsonWriter& out, std::string_view key, const Resources& resources) {
    if (resources.pids_limit) write_record(out.key(key), kTable, resources);
  }
};

constexpr auto kResources =
    fields<Resources>(field("devices", &Resources::devices, list_of(kDeviceRule)),
                      field("memory", &Resources::memory, kMemory),  //
                      field("cpu", &Resources::cpu, kCpu),           //
                      part("pids", Pids()),
                      field("blockIO", &Resources::block_io, kBlockIo),
                      field("hugepageLimits", &Resources::hugepage_limits, list_of(kHugepageLimit)),
                      field("network", &Resources::network, kNetwork),  //
                      field("rdma", &Resources::rdma, RdmaDevices()),   //
                      field("unified", &Resources::unified, UnifiedFiles()));

/// Drops 0 and "".
template <typename T>
void drop_unset(std::optional<T>& value) {
  if (value == T()) value.reset();
}

}  // namespace

std::string resources_text(const Resources& resources) {
  return text_of(kResources, resources, JsonWriter::Layout::kOneLine);
}

std::optional<std::string> settle_pids_limit(Resources& resources, std::string_view oci_version) {
  if (resources.pids_limit != 0) return std::nullopt;
  if (honours_pids_limit_of_zero(oci_version))
    return "/linux/resources/pids/limit: 0 lets no process fork since specification 1.3; give -1 "
           "for unlimited, or at least 1";
  resources.pids_limit.reset();
  return std::nullopt;
}

bool read_resources(Value at, Resources& out) {
  const bool good = kResources(at, out);
  if (out.memory) {  // SD-24, R-11
    Memory& memory = *out.memory;
    for (auto* value :
         {&memory.limit, &memory.reservation, &memory.swap, &memory.kernel, &memory.kernel_tcp})
      drop_unset(*value);
  }
  if (out.cpu) {
    drop_unset(out.cpu->shares);
    drop_unset(out.cpu->quota);
    drop_unset(out.cpu->period);
    drop_unset(out.cpu->realtime_runtime);
    drop_unset(out.cpu->realtime_period);
    drop_unset(out.cpu->cpus);
    drop_unset(out.cpu->mems);
  }
  if (out.block_io) {
    drop_unset(out.block_io->weight);
    drop_unset(out.block_io->leaf_weight);
  }
  return good;
}

}  // namespace ocirun::bundle
