#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(resources_section)

namespace {

cgroups::Resources resources_of(std::string_view resources) {
  return *config_of(fmt::format(R"({{"linux": {{"resources": {}}}}})", resources)).resources;
}

/// check_mistakes() with patches of linux.resources and pointers relative to it.
void check_resource_mistakes(std::span<const Mistake> mistakes) {
  for (const Mistake& mistake : mistakes) {
    const std::string patch = fmt::format(R"({{"linux": {{"resources": {}}}}})", mistake.patch);
    const std::string pointer = fmt::format("/linux/resources{}", mistake.pointer);
    check_mistakes(std::array{Mistake{patch, pointer, mistake.words}});
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(device_rules) {  // R-10
  const auto rules = resources_of(R"({"devices": [
    {"allow": false, "access": "rwm"}, {"allow": true, "type": "c", "major": 42, "minor": -1, "access": "rmw"},
    {"allow": true, "type": "b", "major": 8, "minor": 0, "access": "r"},
    {"allow": false, "type": "", "major": -1}]})")
                         .devices;
  using Rule = cgroups::DeviceRule;
  BOOST_TEST_REQUIRE(rules.size() == 4U);
  BOOST_TEST((rules[0] == Rule{false, 'a', {}, {}, true, true, true}));
  BOOST_TEST((rules[1] == Rule{true, 'c', 42, {}, true, true, true}));
  BOOST_TEST((rules[2] == Rule{true, 'b', 8, 0, true, false, false}));
  BOOST_TEST((rules[3] == Rule{false, 'a', {}, {}, true, true, true}));
  constexpr Mistake kMistakes[] = {
      {R"({"devices": [{"access": "r"}]})", "/devices/0/allow", "is missing"},
      {R"({"devices": [{"allow": true, "type": "p", "access": "r"}]})", "/devices/0/type",
       "unknown device type \"p\" (known: a, b, c)"},
      {R"({"devices": [{"allow": true, "access": "rx"}]})", "/devices/0/access",
       "letters of \"rwm\""},
      {R"({"devices": [{"allow": true, "access": ""}]})", "/devices/0/access",
       "at least one letter"},
      {R"({"devices": [{"allow": true}]})", "/devices/0/access", "at least one letter"},
      {R"({"devices": [{"allow": true, "access": "r", "major": -2}]})", "/devices/0/major",
       "not -2"},
  };
  check_resource_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(memory_limits) {  // R-11 … R-18
  const auto memory = *resources_of(R"({"memory": {"limit": 536870912, "reservation": -1,
    "swap": 536870912, "kernel": -1, "kernelTCP": 0, "swappiness": 100, "disableOOMKiller": true,
    "useHierarchy": false, "checkBeforeUpdate": true}})")
                           .memory;
  BOOST_TEST(*memory.limit == 536870912);
  BOOST_TEST(*memory.reservation == -1);
  BOOST_TEST(*memory.swap == 536870912);
  BOOST_TEST(*memory.kernel == -1);
  BOOST_TEST(!memory.kernel_tcp.has_value());
  BOOST_TEST(*memory.swappiness == 100U);
  BOOST_TEST(*memory.disable_oom_killer);
  BOOST_TEST(!*memory.use_hierarchy);
  BOOST_TEST(*memory.check_before_update);
  constexpr Mistake kMistakes[] = {
      {R"({"memory": {"limit": -2}})", "/memory/limit", "not -2"},
      {R"({"memory": {"reservation": 1.5}})", "/memory/reservation", "not 1.5"},
      {R"({"memory": {"limit": 100, "swap": 99}})", "/memory/swap",
       "99 is less than the memory limit 100"},
      {R"({"memory": {"swap": 99}})", "/memory/swap", "needs a memory limit"},
      {R"({"memory": {"limit": -1, "swap": 99}})", "/memory/swap", "needs a memory limit"},
      {R"({"memory": {"swappiness": 101}})", "/memory/swappiness", "from 0 to 100"},
      {R"({"memory": {"disableOOMKiller": 1}})", "/memory/disableOOMKiller",
       "must be true or false"},
  };
  check_resource_mistakes(kMistakes);
  BOOST_TEST(*resources_of(R"({"memory": {"swap": -1}})").memory->swap == -1);
  BOOST_TEST(*resources_of(R"({"memory": {"limit": 5, "swap": -1}})").memory->swap == -1);
}

BOOST_AUTO_TEST_CASE(cpu_limits) {  // R-20 … R-25
  const auto cpu = *resources_of(R"({"cpu": {"shares": 1024, "quota": 1000000, "burst": 1000000,
    "period": 500000, "realtimeRuntime": 950000, "realtimePeriod": 1000000, "cpus": "2-3",
    "mems": "0-7", "idle": 1}})")
                        .cpu;
  BOOST_TEST(*cpu.shares == 1024U);
  BOOST_TEST(*cpu.quota == 1000000);
  BOOST_TEST(*cpu.burst == 1000000U);
  BOOST_TEST(*cpu.period == 500000U);
  BOOST_TEST(*cpu.realtime_runtime == 950000);
  BOOST_TEST(*cpu.realtime_period == 1000000U);
  BOOST_TEST(*cpu.cpus == "2-3");
  BOOST_TEST(*cpu.mems == "0-7");
  BOOST_TEST(*cpu.idle == 1);
  constexpr Mistake kMistakes[] = {
      {R"({"cpu": {"quota": 1000, "burst": 1001}})", "/cpu/burst",
       "1001 is more than the quota 1000"},
      {R"({"cpu": {"quota": -9}})", "/cpu/quota",
       "from 1000 to 17592186044415 microseconds, or -1 for no limit, not -9"},
      {R"({"cpu": {"quota": 999}})", "/cpu/quota", "-1 for no limit, not 999"},
      {R"({"cpu": {"quota": 17592186044416}})", "/cpu/quota", "not 17592186044416"},
      {R"({"cpu": {"burst": 17592186044416}})", "/cpu/burst", "from 0 to 17592186044415"},
      {R"({"cpu": {"shares": -1}})", "/cpu/shares", "not -1"},
      {R"({"cpu": {"cpus": "3-2"}})", "/cpu/cpus", "list \"3-2\""},
      {R"({"cpu": {"mems": "a"}})", "/cpu/mems", "list \"a\""},
      {R"({"cpu": {"idle": 2}})", "/cpu/idle", "from 0 to 1"},
  };
  check_resource_mistakes(kMistakes);
  BOOST_TEST(*resources_of(R"({"cpu": {"quota": -1, "burst": 11}})").cpu->burst == 11U);
}

BOOST_AUTO_TEST_CASE(pids_of_zero_is_a_limit) {  // R-26
  BOOST_TEST(*resources_of(R"({"pids": {"limit": 0}})").pids_limit == 0);
  BOOST_TEST(*resources_of(R"({"pids": {"limit": -1}})").pids_limit == -1);
  constexpr Mistake kMistakes[] = {{R"({"pids": {"limit": -2}})", "/pids/limit", "not -2"},
                                   {R"({"pids": {}})", "/pids/limit", "is missing"}};
  check_resource_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(block_io) {  // R-30 … R-33
  const auto io = *resources_of(R"({"blockIO": {"weight": 10, "leafWeight": 1000,
    "weightDevice": [{"major": 8, "minor": 0, "weight": 500, "leafWeight": 300},
                     {"major": 8, "minor": 16, "leafWeight": 500}],
    "throttleReadBpsDevice": [{"major": 8, "minor": 0, "rate": 600}],
    "throttleWriteBpsDevice": [{"major": 8, "minor": 1, "rate": 0}],
    "throttleReadIOPSDevice": [{"major": 8, "minor": 2, "rate": 1}],
    "throttleWriteIOPSDevice": [{"major": 8, "minor": 16, "rate": 18446744073709551615}]}})")
                       .block_io;
  BOOST_TEST(*io.weight == 10);
  BOOST_TEST(*io.leaf_weight == 1000);
  BOOST_TEST(*io.weight_devices[0].weight == 500);
  BOOST_TEST(!io.weight_devices[1].weight.has_value());
  BOOST_TEST(io.read_bps[0].rate == 600U);
  BOOST_TEST(io.write_bps[0].minor == 1);
  BOOST_TEST(io.read_iops[0].minor == 2);
  BOOST_TEST(io.write_iops[0].rate == ~std::uint64_t{0});
  constexpr Mistake kMistakes[] = {
      {R"({"blockIO": {"weight": 9}})", "/blockIO/weight", "from 10 to 1000, not 9"},
      {R"({"blockIO": {"weight": 1001}})", "/blockIO/weight", "not 1001"},
      {R"({"blockIO": {"weightDevice": [{"major": 8, "minor": 0}]}})", "/blockIO/weightDevice/0",
       "weight or leafWeight"},
      {R"({"blockIO": {"weightDevice": [{"major": 8, "weight": 10}]}})",
       "/blockIO/weightDevice/0/minor", "is missing"},
      {R"({"blockIO": {"throttleReadBpsDevice": [{"major": 8, "minor": 0}]}})",
       "/blockIO/throttleReadBpsDevice/0/rate", "is missing"},
      {R"({"blockIO": {"throttleWriteIOPSDevice": [{"major": 8, "minor": 0, "rate": -1}]}})",
       "/blockIO/throttleWriteIOPSDevice/0/rate", "not -1"},
  };
  check_resource_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(huge_pages_network_and_rdma) {  // R-40 … R-42
  const auto all = resources_of(R"({
    "hugepageLimits": [{"pageSize": "2MB", "limit": 9223372036854772000}, {"pageSize": "64KB", "limit": 0}],
    "network": {"classID": 1048577, "priorities": [{"name": "eth0", "priority": 500}]},
    "rdma": {"mlx5_1": {"hcaHandles": 3}, "mlx4_0": {"hcaObjects": 0}}})");
  BOOST_TEST(all.hugepage_limits[0].limit == 9223372036854772000U);
  BOOST_TEST(all.hugepage_limits[1].page_size == "64KB");
  BOOST_TEST(*all.network->class_id == 1048577U);
  BOOST_TEST(all.network->priorities[0].priority == 500U);
  BOOST_TEST(*all.rdma.at("mlx5_1").hca_handles == 3U);
  BOOST_TEST(!all.rdma.at("mlx4_0").hca_handles.has_value());
  constexpr Mistake kMistakes[] = {
      {R"({"hugepageLimits": [{"pageSize": "64kB", "limit": 1}]})", "/hugepageLimits/0/pageSize",
       "must be a page size"},
      {R"({"hugepageLimits": [{"pageSize": "02MB", "limit": 1}]})", "/hugepageLimits/0/pageSize",
       "not"},
      {R"({"hugepageLimits": [{"pageSize": "MB", "limit": 1}]})", "/hugepageLimits/0/pageSize",
       "not"},
      {R"({"hugepageLimits": [{"pageSize": "2MB"}]})", "/hugepageLimits/0/limit", "is missing"},
      {R"({"network": {"priorities": [{"name": "eth0"}]}})", "/network/priorities/0/priority",
       "is missing"},
      {R"({"network": {"priorities": [{"name": "", "priority": 1}]}})",
       "/network/priorities/0/name", "must be a name without blanks"},
      {R"({"network": {"priorities": [{"name": "eth 0", "priority": 1}]}})",
       "/network/priorities/0/name", "must be a name without blanks"},
      {R"({"rdma": {"a\tb": {"hcaHandles": 1}}})", R"(/rdma/a\u0009b)",
       "is no name of an RDMA device"},
      {R"({"rdma": {"mlx5_1": {}}})", "/rdma/mlx5_1", "hcaHandles or hcaObjects"},
      {R"({"rdma": {"a b": {"hcaHandles": 1}}})", "/rdma/a b", "is no name of an RDMA device"},
  };
  check_resource_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(unified_keeps_its_order) {  // R-43
  const auto unified =
      resources_of(
          R"({"unified": {"memory.max": "max", "cgroup.freeze": "0", "io.max": "8:0 rbps=1\n"}})")
          .unified;
  BOOST_TEST_REQUIRE(unified.size() == 3U);
  BOOST_TEST(unified[0].first == "memory.max");
  BOOST_TEST(unified[1].first == "cgroup.freeze");
  BOOST_TEST(unified[2].second == "8:0 rbps=1\n");
  constexpr Mistake kMistakes[] = {
      {R"({"unified": {"a/memory.max": "1"}})", "/unified/a~1memory.max", "without \"/\""},
      {R"({"unified": {"../x": "1"}})", "/unified/..~1x", "is no name"},
      {R"({"unified": {"memory": "1"}})", "/unified/memory", "<controller>.<file>"},
      {R"({"unified": {"": "1"}})", "/unified/", "is no name"},
      {R"({"unified": {"memory.max": 1}})", "/unified/memory.max", "must be a string, not 1"},
  };
  check_resource_mistakes(kMistakes);
}

BOOST_AUTO_TEST_CASE(zeros_of_clients_mean_not_set) {  // engines send such updates
  std::vector<std::string> warnings;
  const auto update = parse_resources(
      R"({"memory": {"limit": 67108864, "reservation": 0, "swap": 134217728, "kernel": 0},
          "cpu": {"shares": 0, "quota": 0, "period": 0, "realtimeRuntime": 0, "realtimePeriod": 0,
                  "cpus": "", "mems": ""},
          "pids": {"limit": 50}, "blockIO": {"weight": 0}})",
      warnings);
  BOOST_TEST_REQUIRE(update.has_value());
  BOOST_TEST(*update->memory->limit == 67108864);
  BOOST_TEST(!update->memory->reservation.has_value());
  BOOST_TEST(*update->memory->swap == 134217728);
  BOOST_TEST(!update->memory->kernel.has_value());
  BOOST_TEST(!update->cpu->shares.has_value());
  BOOST_TEST(!update->cpu->quota.has_value());
  BOOST_TEST(!update->cpu->period.has_value());
  BOOST_TEST(!update->cpu->realtime_runtime.has_value());
  BOOST_TEST(!update->cpu->realtime_period.has_value());
  BOOST_TEST(!update->cpu->cpus.has_value());
  BOOST_TEST(!update->cpu->mems.has_value());
  BOOST_TEST(*update->pids_limit == 50);
  BOOST_TEST(!update->block_io->weight.has_value());
}

BOOST_AUTO_TEST_CASE(an_update_is_read_without_what_is_set_already) {
  std::vector<std::string> warnings;
  BOOST_TEST(parse_resources(R"({"memory": {"swap": 5}})", warnings).has_value());
  const auto wrong = parse_resources(R"({"memory": {"limit": "5"}})", warnings);
  BOOST_TEST_REQUIRE(!wrong.has_value());
  BOOST_TEST(
      wrong.error().message().starts_with("resources: /memory/limit: must be a whole number"));
  BOOST_TEST(!parse_resources("[]", warnings).has_value());
  BOOST_TEST(!parse_resources("", warnings).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
