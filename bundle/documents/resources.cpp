// Writes linux.resources in the form that parse_resources.cpp reads.

#include "bundle/config/config.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

template <typename T>
void member(JsonWriter& out, std::string_view name, const std::optional<T>& value) {
  if (value) out.member(name, *value);
}

void write_devices(JsonWriter& out, const std::vector<cgroups::DeviceRule>& devices) {
  out.key("devices").begin_array();
  for (const cgroups::DeviceRule& rule : devices) {
    out.begin_object().member("allow", rule.allow);
    out.member("type", std::string_view(&rule.type, 1));
    member(out, "major", rule.major);
    member(out, "minor", rule.minor);
    out.member("access", fmt::format("{}{}{}", rule.read ? "r" : "", rule.write ? "w" : "",
                                     rule.mknod ? "m" : ""));
    out.end_object();
  }
  out.end_array();
}

void write_memory(JsonWriter& out, const cgroups::Memory& memory) {
  out.key("memory").begin_object();
  member(out, "limit", memory.limit);
  member(out, "reservation", memory.reservation);
  member(out, "swap", memory.swap);
  member(out, "kernel", memory.kernel);
  member(out, "kernelTCP", memory.kernel_tcp);
  member(out, "swappiness", memory.swappiness);
  member(out, "disableOOMKiller", memory.disable_oom_killer);
  member(out, "useHierarchy", memory.use_hierarchy);
  member(out, "checkBeforeUpdate", memory.check_before_update);
  out.end_object();
}

void write_cpu(JsonWriter& out, const cgroups::Cpu& cpu) {
  out.key("cpu").begin_object();
  member(out, "shares", cpu.shares);
  member(out, "quota", cpu.quota);
  member(out, "burst", cpu.burst);
  member(out, "period", cpu.period);
  member(out, "realtimeRuntime", cpu.realtime_runtime);
  member(out, "realtimePeriod", cpu.realtime_period);
  member(out, "cpus", cpu.cpus);
  member(out, "mems", cpu.mems);
  member(out, "idle", cpu.idle);
  out.end_object();
}

void write_throttles(JsonWriter& out, std::string_view name,
                     const std::vector<cgroups::ThrottleDevice>& devices) {
  if (devices.empty()) return;
  out.key(name).begin_array();
  for (const cgroups::ThrottleDevice& device : devices)
    out.begin_object()
        .member("major", device.major)
        .member("minor", device.minor)
        .member("rate", device.rate)
        .end_object();
  out.end_array();
}

void write_block_io(JsonWriter& out, const cgroups::BlockIo& io) {
  out.key("blockIO").begin_object();
  member(out, "weight", io.weight);
  member(out, "leafWeight", io.leaf_weight);
  if (!io.weight_devices.empty()) {
    out.key("weightDevice").begin_array();
    for (const cgroups::WeightDevice& device : io.weight_devices) {
      out.begin_object().member("major", device.major).member("minor", device.minor);
      member(out, "weight", device.weight);
      member(out, "leafWeight", device.leaf_weight);
      out.end_object();
    }
    out.end_array();
  }
  write_throttles(out, "throttleReadBpsDevice", io.read_bps);
  write_throttles(out, "throttleWriteBpsDevice", io.write_bps);
  write_throttles(out, "throttleReadIOPSDevice", io.read_iops);
  write_throttles(out, "throttleWriteIOPSDevice", io.write_iops);
  out.end_object();
}

void write_network(JsonWriter& out, const cgroups::Network& network) {
  out.key("network").begin_object();
  member(out, "classID", network.class_id);
  out.key("priorities").begin_array();
  for (const cgroups::NetworkPriority& priority : network.priorities)
    out.begin_object()
        .member("name", priority.name)
        .member("priority", priority.priority)
        .end_object();
  out.end_array().end_object();
}

void write_rdma(JsonWriter& out, const std::map<std::string, cgroups::Rdma>& rdma) {
  out.key("rdma").begin_object();
  for (const auto& [device, limits] : rdma) {
    out.key(device).begin_object();
    member(out, "hcaHandles", limits.hca_handles);
    member(out, "hcaObjects", limits.hca_objects);
    out.end_object();
  }
  out.end_object();
}

}  // namespace

std::string resources_text(const cgroups::Resources& resources) {
  JsonWriter out(JsonWriter::Layout::kOneLine);
  out.begin_object();
  if (!resources.devices.empty()) write_devices(out, resources.devices);
  if (resources.memory) write_memory(out, *resources.memory);
  if (resources.cpu) write_cpu(out, *resources.cpu);
  if (resources.pids_limit)
    out.key("pids").begin_object().member("limit", *resources.pids_limit).end_object();
  if (resources.block_io) write_block_io(out, *resources.block_io);
  if (!resources.hugepage_limits.empty()) {
    out.key("hugepageLimits").begin_array();
    for (const cgroups::HugepageLimit& limit : resources.hugepage_limits)
      out.begin_object()
          .member("pageSize", limit.page_size)
          .member("limit", limit.limit)
          .end_object();
    out.end_array();
  }
  if (resources.network) write_network(out, *resources.network);
  if (!resources.rdma.empty()) write_rdma(out, resources.rdma);
  if (!resources.unified.empty()) {
    out.key("unified").begin_object();
    for (const auto& [file, value] : resources.unified) out.member(file, value);
    out.end_object();
  }
  out.end_object();
  return std::move(out).take();
}

}  // namespace ocirun::bundle
