#include "bundle/documents/stats.hpp"

#include "bundle/json/writer.hpp"

namespace ocirun::bundle {
namespace {

using cgroups::Pressure;
using cgroups::PressureLine;
using cgroups::Stats;

/// Writes a member, unless the value is 0: runc leaves out such a member.
void unless_zero(JsonWriter& out, std::string_view name, std::uint64_t value) {
  if (value != 0) out.member(name, value);
}

void write_pressure(JsonWriter& out, const std::optional<Pressure>& pressure) {
  if (!pressure) return;
  const auto line = [&](std::string_view name, const PressureLine& part) {
    out.key(name).begin_object();
    out.key("avg10").hundredths(part.avg10);
    out.key("avg60").hundredths(part.avg60);
    out.key("avg300").hundredths(part.avg300);
    out.member("total", part.total_us).end_object();
  };
  out.key("psi").begin_object();
  line("some", pressure->some);
  line("full", pressure->full);
  out.end_object();
}

void write_cpu_stats(JsonWriter& out, const Stats& stats) {
  const cgroups::CpuStats cpu = stats.cpu.value_or(cgroups::CpuStats());
  out.key("cpu").begin_object().key("usage").begin_object();
  unless_zero(out, "total", cpu.total_ns);
  if (!cpu.per_cpu_ns.empty()) out.member("percpu", cpu.per_cpu_ns);
  if (!cpu.per_cpu_system_ns.empty()) out.member("percpu_kernel", cpu.per_cpu_system_ns);
  if (!cpu.per_cpu_user_ns.empty()) out.member("percpu_user", cpu.per_cpu_user_ns);
  out.member("kernel", cpu.system_ns).member("user", cpu.user_ns).end_object();
  out.key("throttling").begin_object();
  unless_zero(out, "periods", cpu.periods);
  unless_zero(out, "throttledPeriods", cpu.throttled_periods);
  unless_zero(out, "throttledTime", cpu.throttled_ns);
  out.end_object();
  write_pressure(out, stats.cpu_pressure);
  out.end_object();
}

void write_cpuset(JsonWriter& out, const Stats& stats) {
  // The cpuset files of cgroup v1. runc prints these members also on cgroup v2, with the value 0.
  constexpr std::string_view kSettings[] = {
      "cpu_exclusive",   "mem_hardwall",       "mem_exclusive",
      "memory_migrate",  "memory_spread_page", "memory_spread_slab",
      "memory_pressure", "sched_load_balance", "sched_relax_domain_level"};
  const cgroups::CpusetStats cpuset = stats.cpuset.value_or(cgroups::CpusetStats());
  out.key("cpuset").begin_object();
  if (!cpuset.cpus.empty()) out.member("cpus", cpuset.cpus);
  if (!cpuset.mems.empty()) out.member("mems", cpuset.mems);
  for (const std::string_view name : kSettings) {
    const auto setting = cpuset.settings.find(std::string(name));
    out.member(name, setting == cpuset.settings.end() ? std::int64_t{0} : setting->second);
  }
  out.end_object();
}

void write_usage(JsonWriter& out, std::string_view name,
                 const std::optional<cgroups::MemoryUsage>& usage) {
  const cgroups::MemoryUsage memory = usage.value_or(cgroups::MemoryUsage());
  out.key(name).begin_object().member("limit", memory.limit);
  unless_zero(out, "usage", memory.usage);
  unless_zero(out, "max", memory.max_usage);
  out.member("failcnt", memory.fail_count).end_object();
}

void write_memory_stats(JsonWriter& out, const Stats& stats) {
  const cgroups::MemoryStats memory = stats.memory.value_or(cgroups::MemoryStats());
  out.key("memory").begin_object();
  unless_zero(out, "cache", memory.cache);
  write_usage(out, "usage", memory.memory);
  write_usage(out, "swap", memory.swap);
  write_usage(out, "kernel", memory.kernel);
  write_usage(out, "kernelTCP", memory.kernel_tcp);
  if (!memory.raw.empty()) {
    out.key("raw").begin_object();
    for (const auto& [name, value] : memory.raw) out.member(name, value);
    out.end_object();
  }
  write_pressure(out, stats.memory_pressure);
  out.end_object();
}

void write_block_io_stats(JsonWriter& out, const Stats& stats) {
  out.key("blkio").begin_object();
  for (const auto& [name, entries] : stats.block_io) {
    out.key(name).begin_array();
    for (const cgroups::BlockIoEntry& entry : entries) {
      out.begin_object();
      unless_zero(out, "major", entry.major);
      unless_zero(out, "minor", entry.minor);
      if (!entry.operation.empty()) out.member("op", entry.operation);
      unless_zero(out, "value", entry.value);
      out.end_object();
    }
    out.end_array();
  }
  write_pressure(out, stats.io_pressure);
  out.end_object();
}

void write_hugetlb(JsonWriter& out, const Stats& stats) {
  out.key("hugetlb").begin_object();
  for (const auto& [size, huge] : stats.hugetlb) {
    out.key(size).begin_object();
    unless_zero(out, "usage", huge.usage);
    unless_zero(out, "max", huge.max_usage);
    out.member("failcnt", huge.fail_count).end_object();
  }
  out.end_object();
}

void write_rdma_stats(JsonWriter& out, const Stats& stats) {
  if (stats.rdma.empty()) return;
  const auto list = [&](std::string_view name, std::uint32_t cgroups::RdmaStats::* handles,
                        std::uint32_t cgroups::RdmaStats::* objects) {
    out.key(name).begin_array();
    for (const auto& [device, rdma] : stats.rdma)
      out.begin_object()
          .member("device", device)
          .member("hca_handles", rdma.*handles)
          .member("hca_objects", rdma.*objects)
          .end_object();
    out.end_array();
  };
  out.key("rdma").begin_object();
  list("rdma_limit", &cgroups::RdmaStats::handle_limit, &cgroups::RdmaStats::object_limit);
  list("rdma_current", &cgroups::RdmaStats::handles, &cgroups::RdmaStats::objects);
  out.end_object();
}

void write_resctrl(JsonWriter& out, const std::optional<linux::ResctrlStats>& stats) {
  using Domain = linux::ResctrlStats::Domain;
  const linux::ResctrlStats rdt = stats.value_or(linux::ResctrlStats());
  const auto text = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) out.member(name, value);
  };
  out.key("intel_rdt").begin_object();
  if (rdt.l3)
    out.key("l3_cache_info")
        .begin_object()
        .member("cbm_mask", rdt.l3->cbm_mask)
        .member("min_cbm_bits", rdt.l3->min_cbm_bits)
        .member("num_closids", rdt.l3->num_closids)
        .end_object();
  text("l3_cache_schema_root", rdt.l3_schema_root);
  text("l3_cache_schema", rdt.l3_schema);
  if (rdt.bandwidth)
    out.key("mem_bw_info")
        .begin_object()
        .member("bandwidth_gran", rdt.bandwidth->bandwidth_gran)
        .member("delay_linear", rdt.bandwidth->delay_linear)
        .member("min_bandwidth", rdt.bandwidth->min_bandwidth)
        .member("num_closids", rdt.bandwidth->num_closids)
        .end_object();
  text("mem_bw_schema_root", rdt.bandwidth_schema_root);
  text("mem_bw_schema", rdt.bandwidth_schema);
  const bool bandwidth = !rdt.domains.empty() && rdt.domains.front().mbm_total_bytes;
  const bool occupancy = !rdt.domains.empty() && rdt.domains.front().llc_occupancy;
  if (bandwidth) {
    out.key("mbm_stats").begin_array();
    for (const Domain& domain : rdt.domains)
      out.begin_object()
          .member("mbm_total_bytes", domain.mbm_total_bytes.value_or(0))
          .member("mbm_local_bytes", domain.mbm_local_bytes.value_or(0))
          .end_object();
    out.end_array();
  }
  if (occupancy) {
    out.key("cmt_stats").begin_array();
    for (const Domain& domain : rdt.domains)
      out.begin_object().member("llc_occupancy", domain.llc_occupancy.value_or(0)).end_object();
    out.end_array();
  }
  out.end_object();
}

void write_interfaces(JsonWriter& out, const std::vector<linux::InterfaceStats>& interfaces) {
  out.key("network_interfaces").begin_array();
  for (const linux::InterfaceStats& interface : interfaces)
    out.begin_object()
        .member("Name", interface.name)
        .member("RxBytes", interface.rx_bytes)
        .member("RxPackets", interface.rx_packets)
        .member("RxErrors", interface.rx_errors)
        .member("RxDropped", interface.rx_dropped)
        .member("TxBytes", interface.tx_bytes)
        .member("TxPackets", interface.tx_packets)
        .member("TxErrors", interface.tx_errors)
        .member("TxDropped", interface.tx_dropped)
        .end_object();
  out.end_array();
}

void write_pids(JsonWriter& out, const Stats& stats) {
  out.key("pids").begin_object();
  if (stats.pids) {
    unless_zero(out, "current", stats.pids->current);
    if (stats.pids->limit) out.member("limit", *stats.pids->limit);
  }
  out.end_object();
}

void write_cgroup_stats(JsonWriter& out, const Stats& stats) {
  write_cpu_stats(out, stats);
  write_cpuset(out, stats);
  write_memory_stats(out, stats);
  write_pids(out, stats);
  write_block_io_stats(out, stats);
  write_hugetlb(out, stats);
  write_rdma_stats(out, stats);
}

}  // namespace

std::string stats_event(const std::string& id, const ContainerStats& stats) {
  JsonWriter out(JsonWriter::Layout::kOneLine);
  out.begin_object().member("type", "stats").member("id", id);
  out.key("data").begin_object();
  if (stats.cgroup) write_cgroup_stats(out, *stats.cgroup);
  write_resctrl(out, stats.resctrl);
  write_interfaces(out, stats.interfaces);
  out.end_object().end_object();
  return std::move(out).take();
}

std::string oom_event(const std::string& id) {
  JsonWriter out(JsonWriter::Layout::kOneLine);
  out.begin_object().member("type", "oom").member("id", id).end_object();
  return std::move(out).take();
}

}  // namespace ocirun::bundle
