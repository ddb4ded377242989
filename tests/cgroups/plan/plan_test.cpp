#include "cgroups/plan/plan.hpp"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <map>

using namespace ocirun;
using namespace ocirun::cgroups;

namespace {

using Homes = std::map<std::string, Home, std::less<>>;

Host host(Homes homes, std::map<std::string, std::string> current = {}) {
  const auto any = [&](Home home) {
    return std::ranges::any_of(homes, [&](const auto& h) { return h.second == home; });
  };
  const bool has_v1 = any(Home::kV1), has_unified = any(Home::kUnified);
  return {.home =
              [homes](std::string_view name) {
                const auto found = homes.find(name);
                return found == homes.end() ? Home::kNowhere : found->second;
              },
          .has_v1 = has_v1,
          .has_unified = has_unified,
          .current =
              [current](const std::string& file) {
                return current.contains(file) ? current.at(file) : "";
              }};
}

const Homes kV1Homes = {{"cpu", Home::kV1},     {"cpuset", Home::kV1},   {"memory", Home::kV1},
                        {"pids", Home::kV1},    {"blkio", Home::kV1},    {"hugetlb", Home::kV1},
                        {"net_cls", Home::kV1}, {"net_prio", Home::kV1}, {"rdma", Home::kV1}};
const Homes kV2Homes = {{"cpu", Home::kUnified},    {"cpuset", Home::kUnified},
                        {"memory", Home::kUnified}, {"pids", Home::kUnified},
                        {"io", Home::kUnified},     {"hugetlb", Home::kUnified},
                        {"rdma", Home::kUnified}};
const Homes kHybridHomes = {{"cpu", Home::kV1}, {"memory", Home::kV1}, {"hugetlb", Home::kUnified}};

/// "FILE=VALUE" of each write, in order.
std::vector<std::string> planned(const Resources& resources, const Host& on) {
  const Result<std::vector<Write>> writes = plan(resources, on);
  if (!writes) return {"error: " + writes.error().message()};
  std::vector<std::string> lines;
  for (const Write& write : *writes) {
    BOOST_TEST(write.pointer.starts_with("/linux/resources/"), write.pointer);
    lines.push_back(write.file + "=" + write.value);
  }
  return lines;
}
std::vector<std::string> on_v1(const Resources& resources) {
  return planned(resources, host(kV1Homes));
}
std::vector<std::string> on_v2(const Resources& resources) {
  return planned(resources, host(kV2Homes));
}
using Lines = std::vector<std::string>;

Resources with(Memory memory) {
  Resources resources;
  resources.memory = memory;
  return resources;
}
Resources with(Cpu cpu) {
  Resources resources;
  resources.cpu = std::move(cpu);
  return resources;
}
Resources with(BlockIo io) {
  Resources resources;
  resources.block_io = std::move(io);
  return resources;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plan_memory)

BOOST_AUTO_TEST_CASE(limits_on_v1)  // R-11 R-12 R-13 R-15 R-16
{
  Memory memory;
  memory.limit = 4096000;
  memory.swap = 8192000;
  memory.reservation = 2048000;
  memory.swappiness = 60;
  memory.disable_oom_killer = true;
  BOOST_CHECK(on_v1(with(memory)) ==
              (Lines{"memory.limit_in_bytes=4096000", "memory.memsw.limit_in_bytes=8192000",
                     "memory.soft_limit_in_bytes=2048000", "memory.swappiness=60",
                     "memory.oom_control=1"}));
}

BOOST_AUTO_TEST_CASE(swap_is_counted_alone_on_v2)
{
  Memory memory;
  memory.limit = 4096000;
  memory.swap = 8192000;
  memory.reservation = -1;
  BOOST_CHECK(on_v2(with(memory)) ==
              (Lines{"memory.swap.max=4096000", "memory.max=4096000", "memory.low=max"}));
  memory.swap = memory.limit;
  BOOST_CHECK(on_v2(with(memory))[0] == "memory.swap.max=0");
  memory.swap = -1;
  BOOST_CHECK(on_v2(with(memory))[0] == "memory.swap.max=max");
}

BOOST_AUTO_TEST_CASE(unlimited_memory_lifts_the_limit_on_swap_too)
{
  Memory memory;
  memory.limit = -1;
  BOOST_CHECK(on_v1(with(memory)) ==
              (Lines{"memory.limit_in_bytes=-1", "memory.memsw.limit_in_bytes=-1"}));
  BOOST_CHECK(on_v2(with(memory)) == (Lines{"memory.swap.max=max", "memory.max=max"}));
}

BOOST_AUTO_TEST_CASE(zeros_of_clients_updates_leave_alone)  // as engines rely on
{
  Memory memory;
  memory.limit = memory.swap = memory.reservation = memory.kernel = memory.kernel_tcp = 0;
  BOOST_TEST(on_v1(with(memory)).empty());
  BOOST_TEST(on_v2(with(memory)).empty());
  Cpu cpu;
  cpu.shares = cpu.period = cpu.realtime_period = 0;
  cpu.quota = cpu.realtime_runtime = 0;
  cpu.cpus = cpu.mems = "";
  BOOST_TEST(on_v1(with(cpu)).empty());
  BOOST_TEST(on_v2(with(cpu)).empty());
  BlockIo io;
  io.weight = io.leaf_weight = 0;
  BOOST_TEST(on_v1(with(io)).empty());
  BOOST_TEST(on_v2(with(io)).empty());
}

BOOST_AUTO_TEST_CASE(an_update_of_swap_alone_counts_from_the_present_limit_on_v2)
{
  Memory memory;
  memory.swap = 3000;
  BOOST_CHECK(planned(with(memory), host(kV2Homes, {{"memory.max", "1000"}})) ==
              Lines{"memory.swap.max=2000"});
  BOOST_TEST(planned(with(memory), host(kV2Homes, {{"memory.max", "max"}}))[0].contains(
      "needs a limit on memory"));
  BOOST_TEST(
      planned(with(memory), host(kV2Homes, {{"memory.max", "4000"}}))[0].contains("must not be"));
}

BOOST_AUTO_TEST_CASE(swap_that_contradicts_the_limit_is_refused)
{
  Memory memory;
  memory.limit = 4096;
  memory.swap = 4095;
  for (const auto& lines : {on_v1(with(memory)), on_v2(with(memory))})
    BOOST_TEST(lines[0].starts_with("error: /linux/resources/memory/swap: 4095 "));
  memory.limit = -1;
  for (const auto& lines : {on_v1(with(memory)), on_v2(with(memory))})
    BOOST_TEST(lines[0].contains("memory is unlimited"));
}

BOOST_AUTO_TEST_CASE(what_v2_cannot_express_is_refused_unless_it_asks_for_nothing)
// R-14 R-15 R-16 R-17 R-44
{
  Memory nothing;
  nothing.kernel = -1;
  nothing.kernel_tcp = 0;
  nothing.swappiness = 0;
  nothing.disable_oom_killer = false;
  nothing.use_hierarchy = true;
  BOOST_TEST(on_v2(with(nothing)).empty());

  const auto refused = [](auto set, const char* field) {
    Memory memory;
    set(memory);
    BOOST_TEST(on_v2(with(memory))[0].starts_with("error: /linux/resources/memory/" +
                                                  std::string(field) + ": cgroup v2 has no"),
               field);
  };
  refused([](Memory& m) { m.kernel = 4096; }, "kernel");
  refused([](Memory& m) { m.kernel_tcp = 4096; }, "kernelTCP");
  refused([](Memory& m) { m.swappiness = 1; }, "swappiness");
  refused([](Memory& m) { m.disable_oom_killer = true; }, "disableOOMKiller");
  refused([](Memory& m) { m.use_hierarchy = false; }, "useHierarchy");
}

BOOST_AUTO_TEST_CASE(a_limit_below_the_usage_is_refused_when_asked_to_check)
{
  Memory memory;
  memory.limit = 1000;
  const Host busy = host(kV2Homes, {{"memory.current", "1001"}});
  BOOST_CHECK(planned(with(memory), busy) == Lines{"memory.max=1000"});
  memory.check_before_update = true;
  BOOST_TEST(planned(with(memory), busy)[0].contains("1001 bytes"));
  BOOST_CHECK(planned(with(memory), host(kV2Homes, {{"memory.current", "1000"}})) ==
              Lines{"memory.max=1000"});
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(plan_cpu)

BOOST_AUTO_TEST_CASE(limits_on_v1)  // R-20 … R-24
{
  Cpu cpu;
  cpu.shares = 512;
  cpu.quota = 50000;
  cpu.period = 100000;
  cpu.burst = 1000;
  cpu.realtime_period = 1000000;
  cpu.realtime_runtime = 950000;
  cpu.cpus = "0-1";
  cpu.mems = "0";
  BOOST_CHECK(on_v1(with(cpu)) ==
              (Lines{"cpuset.cpus=0-1", "cpuset.mems=0", "cpu.shares=512", "cpu.cfs_burst_us=1000",
                     "cpu.cfs_period_us=100000", "cpu.cfs_quota_us=50000",
                     "cpu.rt_period_us=1000000", "cpu.rt_runtime_us=950000"}));
}

BOOST_AUTO_TEST_CASE(quota_and_period_share_a_file_on_v2)
{
  Cpu cpu;
  cpu.quota = 50000;
  BOOST_CHECK(on_v2(with(cpu)) == Lines{"cpu.max=50000 100000"});
  BOOST_CHECK(planned(with(cpu), host(kV2Homes, {{"cpu.max", "max 20000"}})) ==
              Lines{"cpu.max=50000 20000"});
  cpu.period = 200000;
  BOOST_CHECK(on_v2(with(cpu)) == Lines{"cpu.max=50000 200000"});
  cpu.quota = -1;
  BOOST_CHECK(on_v2(with(cpu)) == Lines{"cpu.max=max 200000"});
  cpu.quota.reset();
  BOOST_CHECK(planned(with(cpu), host(kV2Homes, {{"cpu.max", "7000 20000"}})) ==
              Lines{"cpu.max=7000 200000"});
}

BOOST_AUTO_TEST_CASE(weights_on_v2)
{
  Cpu cpu;
  cpu.shares = 1024;
  BOOST_CHECK(on_v2(with(cpu)) == Lines{"cpu.weight=100"});
}

BOOST_AUTO_TEST_CASE(a_weight_is_set_while_the_cgroup_is_not_idle)
{
  Cpu cpu;
  cpu.shares = 1024;
  cpu.idle = 1;
  BOOST_CHECK(on_v1(with(cpu)) == (Lines{"cpu.idle=0", "cpu.shares=1024", "cpu.idle=1"}));
  cpu.idle = 0;
  BOOST_CHECK(on_v2(with(cpu)) == (Lines{"cpu.idle=0", "cpu.weight=100"}));
  cpu.shares.reset();
  cpu.idle = 1;
  BOOST_CHECK(on_v1(with(cpu)) == Lines{"cpu.idle=1"});
}

BOOST_AUTO_TEST_CASE(a_burst_above_the_quota_is_refused)
{
  Cpu cpu;
  cpu.quota = 1000;
  cpu.burst = 1001;
  BOOST_TEST(on_v1(with(cpu))[0].starts_with("error: /linux/resources/cpu/burst: 1001 "));
  cpu.quota = -1;
  BOOST_CHECK(on_v2(with(cpu)) == (Lines{"cpu.max.burst=1001", "cpu.max=max 100000"}));
}

BOOST_AUTO_TEST_CASE(real_time_limits_are_refused_on_v2)
{
  Cpu cpu;
  cpu.realtime_runtime = 950000;
  BOOST_TEST(on_v2(with(cpu))[0].starts_with("error: /linux/resources/cpu/realtimeRuntime: "));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(plan_others)

BOOST_AUTO_TEST_CASE(no_process_at_all_is_a_limit)
{
  Resources resources;
  for (const auto& [limit, value] : {std::pair<std::int64_t, const char*>{0, "pids.max=0"},
                                     {-1, "pids.max=max"},
                                     {50, "pids.max=50"}}) {
    resources.pids_limit = limit;
    BOOST_CHECK(on_v1(resources) == Lines{value});
    BOOST_CHECK(on_v2(resources) == Lines{value});
  }
}

BOOST_AUTO_TEST_CASE(block_weights)  // R-30 R-31 R-32
{
  BlockIo io;
  io.weight = 500;
  io.weight_devices = {{.major = 8, .minor = 16, .weight = 100, .leaf_weight = {}}};
  BOOST_CHECK(on_v1(with(io)) == (Lines{"blkio.weight=500", "blkio.weight_device=8:16 100"}));
  const auto writes = plan(with(io), host(kV2Homes));
  BOOST_REQUIRE(writes);
  BOOST_TEST((*writes)[0].file == "io.bfq.weight");
  BOOST_TEST((*writes)[0].value == "500");
  BOOST_TEST((*writes)[0].other_file == "io.weight");
  BOOST_TEST((*writes)[0].other_value == "4950");
  BOOST_TEST((*writes)[1].other_value == "8:16 910");

  io.leaf_weight = 10;
  BOOST_CHECK(on_v1(with(io))[1] == "blkio.leaf_weight=10");
  BOOST_TEST(on_v2(with(io))[0].starts_with("error: /linux/resources/blockIO/leafWeight: "));
}

BOOST_AUTO_TEST_CASE(throttles)
{
  BlockIo io;
  io.read_bps = {{8, 0, 600}, {8, 16, 300}};
  io.write_iops = {{8, 0, 0}};
  BOOST_CHECK(on_v1(with(io)) == (Lines{"blkio.throttle.read_bps_device=8:0 600",
                                        "blkio.throttle.read_bps_device=8:16 300",
                                        "blkio.throttle.write_iops_device=8:0 0"}));
  BOOST_CHECK(on_v2(with(io)) ==
              (Lines{"io.max=8:0 rbps=600", "io.max=8:16 rbps=300", "io.max=8:0 wiops=max"}));
}

BOOST_AUTO_TEST_CASE(huge_pages_where_the_controller_is)
{
  Resources resources;
  resources.hugepage_limits = {{"2MB", 4194304}};
  BOOST_CHECK(on_v1(resources) == (Lines{"hugetlb.2MB.limit_in_bytes=4194304",
                                         "hugetlb.2MB.rsvd.limit_in_bytes=4194304"}));
  // A hybrid host: the one controller of the unified hierarchy is used there.
  BOOST_CHECK(planned(resources, host(kHybridHomes)) ==
              (Lines{"hugetlb.2MB.max=4194304", "hugetlb.2MB.rsvd.max=4194304"}));
  for (const char* size : {"2mb", "MB", "02MB", "2TB", "2M", "../2MB", "2 MB", ""}) {
    resources.hugepage_limits = {{size, 1}};
    BOOST_TEST(on_v2(resources)[0].contains("/hugepageLimits/0/pageSize: "), size);
  }
}

BOOST_AUTO_TEST_CASE(network_controllers)
{
  Resources resources;
  resources.network = Network{.class_id = 1048577, .priorities = {{"eth0", 500}}};
  BOOST_CHECK(on_v1(resources) ==
              (Lines{"net_cls.classid=1048577", "net_prio.ifpriomap=eth0 500"}));
  for (const Host& without : {host(kV2Homes), host(kHybridHomes)}) {
    const Lines lines = planned(resources, without);
    BOOST_TEST(lines[0].starts_with("error: /linux/resources/network/classID: "));
    BOOST_TEST(lines[0].contains("net_cls controller"));
  }
  resources.network = Network{.class_id = 0, .priorities = {}};
  BOOST_TEST(on_v2(resources).empty());
  resources.network = Network{.class_id = {}, .priorities = {{"eth0 1\nlo", 500}}};
  BOOST_TEST(on_v1(resources)[0].contains("is no interface's name"));
}

BOOST_AUTO_TEST_CASE(rdma)
{
  Resources resources;
  resources.rdma["mlx5_1"] = {.hca_handles = 3, .hca_objects = 10000};
  resources.rdma["mlx4_0"] = {.hca_handles = {}, .hca_objects = 1000};
  BOOST_CHECK(on_v2(resources) == (Lines{"rdma.max=mlx4_0 hca_object=1000",
                                         "rdma.max=mlx5_1 hca_handle=3 hca_object=10000"}));
  BOOST_TEST(
      planned(resources, host(kHybridHomes))[0].contains("the rdma controller is neither mounted"));
}

BOOST_AUTO_TEST_CASE(a_missing_controller_is_an_error_unless_nothing_is_limited) {
  const Host bare = host({{"cpu", Home::kV1}});
  Resources resources;
  resources.pids_limit = -1;
  resources.memory = Memory{};
  resources.memory->limit = -1;
  BOOST_TEST(planned(resources, bare).empty());
  resources.memory->limit = 4096;
  BOOST_TEST(planned(resources, bare)[0].starts_with(
      "error: /linux/resources/memory/limit: the memory controller is neither mounted"));
}

BOOST_AUTO_TEST_CASE(unified_values_come_last_and_line_by_line)
{
  Resources resources;
  resources.pids_limit = 10;
  resources.unified = {{"io.max", "8:0 rbps=1\n8:16 rbps=2\n"},
                       {"pids.max", "20"},
                       {"memory.pressure", "some 1 2"},
                       {"cgroup.max.depth", "3"},
                       {"cpu.from_the_future", "1"}};
  BOOST_CHECK(on_v2(resources) ==
              (Lines{"pids.max=10", "io.max=8:0 rbps=1", "io.max=8:16 rbps=2", "pids.max=20",
                     "memory.pressure=some 1 2", "cgroup.max.depth=3", "cpu.from_the_future=1"}));
}

BOOST_AUTO_TEST_CASE(unified_keys_are_checked)
{
  const auto refused = [](const std::string& key, const Homes& homes) {
    Resources resources;
    resources.unified = {{key, "1"}};
    return planned(resources, host(homes))[0];
  };
  for (const char* key : {"../x.y", "a/b.c", "nodot", ".x", ""})
    BOOST_TEST(refused(key, kV2Homes).contains("must be the name of a file"), key);
  for (const char* key : {"cgroup.procs", "cgroup.freeze", "cgroup.kill", "cgroup.threads"})
    BOOST_TEST(refused(key, kV2Homes).contains("the runtime's business"), key);
  BOOST_TEST(refused("misc.max", kV2Homes).contains("the misc controller is not available"));
  BOOST_TEST(refused("memory.high", kHybridHomes).contains("mounts it as cgroup v1"));
  BOOST_TEST(refused("hugetlb.2MB.max", kHybridHomes) == "hugetlb.2MB.max=1");
  BOOST_TEST(refused("memory.high", kV1Homes).contains("no unified (v2) hierarchy"));
}

BOOST_AUTO_TEST_SUITE_END()
