#include "bundle/documents/stats.hpp"

#include <boost/test/unit_test.hpp>

#include "bundle/config/config.hpp"

using namespace ocirun;
using namespace ocirun::bundle;

BOOST_AUTO_TEST_SUITE(stats_document)

BOOST_AUTO_TEST_CASE(what_a_cgroup_would_count_is_left_out_without_one) {
  const std::string text = stats_event("web", {});
  for (const char* section : {"cpu", "cpuset", "memory", "pids", "blkio", "hugetlb"})
    BOOST_TEST(!text.contains(fmt::format("\"{}\":", section)), section);
  BOOST_TEST(text.contains("\"network_interfaces\":"));
}

BOOST_AUTO_TEST_CASE(all_sections_are_there_when_nothing_is_known) {
  ContainerStats nothing;
  nothing.cgroup.emplace();
  const std::string text = stats_event("web", nothing);
  BOOST_TEST(text.starts_with(R"({"type":"stats","id":"web","data":{"cpu":{"usage":{)"));
  for (const char* section :
       {"cpuset", "memory", "pids", "blkio", "hugetlb", "intel_rdt", "network_interfaces"})
    BOOST_TEST(text.contains(fmt::format("\"{}\":", section)), section);
  BOOST_TEST(!text.contains("psi"));
  BOOST_TEST(!text.contains("\"rdma\":"));
}

BOOST_AUTO_TEST_CASE(readings_have_the_names_that_clients_of_runc_read) {
  ContainerStats stats;
  cgroups::Stats& cgroup = stats.cgroup.emplace();
  cgroup.cpu = cgroups::CpuStats{
      .total_ns = 7, .user_ns = 4, .system_ns = 3, .per_cpu_ns = {}, .periods = 2};
  cgroup.memory.emplace().memory = {.usage = 5, .max_usage = 6, .fail_count = 1, .limit = 9};
  cgroup.memory->kernel_tcp = cgroups::MemoryUsage{.usage = 8};
  cgroup.pids = cgroups::PidsStats{.current = 2, .limit = 10};
  cgroup.block_io["ioServicedRecursive"] = {{8, 0, "Read", 3}};
  cgroup.hugetlb["2MB"] = {.usage = 1, .max_usage = 2, .fail_count = 0};
  cgroup.rdma["mlx5_1"] = {.handles = 1, .objects = 2, .handle_limit = 3, .object_limit = 4};
  cgroup.cpu_pressure = cgroups::Pressure{.some = {.avg10 = 1205, .total_us = 44}, .full = {}};
  stats.interfaces = {{.name = "eth0", .rx_bytes = 1, .tx_dropped = 2}};
  linux::ResctrlStats rdt;
  rdt.l3_schema = "L3:0=f";
  rdt.domains = {{.llc_occupancy = 5, .mbm_total_bytes = 6, .mbm_local_bytes = 7}};
  stats.resctrl = rdt;
  const std::string text = stats_event("web", stats);
  for (const char* part :
       {R"("usage":{"total":7,"kernel":3,"user":4})", R"("throttling":{"periods":2})",
        R"("some":{"avg10":12.05,"avg60":0.00,"avg300":0.00,"total":44})",
        R"("usage":{"limit":9,"usage":5,"max":6,"failcnt":1})", R"("kernelTCP":{)",
        R"("pids":{"current":2,"limit":10})",
        R"("ioServicedRecursive":[{"major":8,"op":"Read","value":3}])",
        R"("2MB":{"usage":1,"max":2,"failcnt":0})",
        R"("rdma_limit":[{"device":"mlx5_1","hca_handles":3,"hca_objects":4}])",
        R"("l3_cache_schema":"L3:0=f")", R"("cmt_stats":[{"llc_occupancy":5}])",
        R"("Name":"eth0","RxBytes":1)", R"("TxDropped":2)"})
    BOOST_TEST(text.contains(part), part << " in " << text);
}

BOOST_AUTO_TEST_CASE(an_oom_event_is_short) {
  BOOST_TEST(oom_event("web") == R"({"type":"oom","id":"web"})");
}

BOOST_AUTO_TEST_CASE(resources_are_written_as_they_are_read) {
  const std::string text =
      R"({"devices":[{"allow":false,"type":"a","access":"rwm"},{"allow":true,"type":"c","major":1,)"
      R"("minor":5,"access":"r"}],"memory":{"limit":-1,"swap":5,"swappiness":0,)"
      R"("disableOOMKiller":false,"checkBeforeUpdate":true},"cpu":{"shares":4,"burst":0,)"
      R"("cpus":"0-1","idle":1},"pids":{"limit":0},"blockIO":{"weight":10,"weightDevice":)"
      R"([{"major":8,"minor":0,"weight":20}],"throttleReadBpsDevice":[{"major":8,"minor":0,)"
      R"("rate":7}]},"hugepageLimits":[{"pageSize":"2MB","limit":1}],"network":{"classID":3,)"
      R"("priorities":[{"name":"eth0","priority":2}]},"rdma":{"mlx5":{"hcaHandles":1}},)"
      R"("unified":{"memory.high":"5"}})";
  std::vector<std::string> warnings;
  const auto resources = parse_resources(text, warnings);
  BOOST_REQUIRE(resources.has_value());
  BOOST_TEST(resources_text(*resources) == text);
  BOOST_TEST(resources_text({}) == "{}");
}

BOOST_AUTO_TEST_SUITE_END()
