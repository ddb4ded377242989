#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ocirun::cgroups {

/// linux.resources (docs/requirements.md: R-10 … R-46) as config.json has it. An absent value means
/// "leave the kernel's value alone".
struct DeviceRule {
  bool allow = false;
  char type = 'a';                    // 'a', 'b', 'c'
  std::optional<std::int64_t> major;  // absent: all
  std::optional<std::int64_t> minor;
  bool read = false, write = false, mknod = false;
  friend bool operator==(const DeviceRule&, const DeviceRule&) = default;
};

struct Memory {  // bytes; -1 is "unlimited"
  std::optional<std::int64_t> limit, reservation, swap, kernel, kernel_tcp;
  std::optional<std::uint64_t> swappiness;  // 0 … 100
  std::optional<bool> disable_oom_killer, use_hierarchy, check_before_update;
};

/// The quotas that the kernel takes, in microseconds: the greatest is MAX_BW, since Linux 5.8.
inline constexpr std::int64_t kLeastQuota = 1000, kMostQuota = (std::int64_t{1} << 44) - 1;
inline constexpr std::uint64_t kUsualPeriod = 100'000;  // microseconds
/// The quota that gives `cpus` CPUs in each kUsualPeriod, from kLeastQuota to kMostQuota.
std::int64_t quota_of(double cpus);

struct Cpu {
  std::optional<std::uint64_t> shares;
  std::optional<std::int64_t> quota;             // µs; below 0: unlimited, 0: left alone
  std::optional<std::uint64_t> burst, period;    // µs
  std::optional<std::int64_t> realtime_runtime;  // µs
  std::optional<std::uint64_t> realtime_period;
  std::optional<std::string> cpus, mems;  // lists, checked by NumberSet::parse
  std::optional<std::int64_t> idle;       // 0 or 1
};

struct WeightDevice {
  std::int64_t major = 0, minor = 0;
  std::optional<std::uint16_t> weight, leaf_weight;
  friend bool operator==(const WeightDevice&, const WeightDevice&) = default;
};
struct ThrottleDevice {
  std::int64_t major = 0, minor = 0;
  std::uint64_t rate = 0;  // bytes or operations per second; 0 is "unlimited"
  friend bool operator==(const ThrottleDevice&, const ThrottleDevice&) = default;
};
struct BlockIo {
  std::optional<std::uint16_t> weight, leaf_weight;  // weight 0: unset (clients send it)
  std::vector<WeightDevice> weight_devices;
  std::vector<ThrottleDevice> read_bps, write_bps, read_iops, write_iops;
};

struct HugepageLimit {
  std::string page_size;  // "2MB", as the kernel's file names spell it
  std::uint64_t limit = 0;
  friend bool operator==(const HugepageLimit&, const HugepageLimit&) = default;
};
struct NetworkPriority {
  std::string name;
  std::uint32_t priority = 0;
  friend bool operator==(const NetworkPriority&, const NetworkPriority&) = default;
};
struct Network {
  std::optional<std::uint32_t> class_id;
  std::vector<NetworkPriority> priorities;
};
struct Rdma {
  std::optional<std::uint32_t> hca_handles, hca_objects;
  friend bool operator==(const Rdma&, const Rdma&) = default;
};

struct Resources {
  std::vector<DeviceRule> devices;
  std::optional<Memory> memory;
  std::optional<Cpu> cpu;
  std::optional<std::int64_t> pids_limit;  // -1 is "unlimited", 0 is valid
  std::optional<BlockIo> block_io;
  std::vector<HugepageLimit> hugepage_limits;
  std::optional<Network> network;
  std::map<std::string, Rdma> rdma;
  std::vector<std::pair<std::string, std::string>> unified;  // file, value; order kept
};

/// `now` updated by `change`: members that `change` leaves out stay. Lists are merged entry by
/// entry, by device, page size, interface or file. The device rules are the exception, because
/// their order has a meaning: a list that is not empty replaces the old one.
Resources merge(Resources now, const Resources& change);

}  // namespace ocirun::cgroups
