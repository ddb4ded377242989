#include "cgroups/container/compare.hpp"

#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

namespace {

using boost::unit_test::precondition;

std::vector<LimitFound> drift_of(const TestCgroup& cgroup, const Resources& resources) {
  std::vector<LimitFound> limits = must(compare_limits(cgroup->record(), resources));
  std::erase_if(limits, [](const LimitFound& limit) { return limit.is_same; });
  return limits;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compare, *boost::unit_test::precondition(host_has()))

BOOST_AUTO_TEST_CASE(a_new_cgroup_has_no_limit_that_nobody_asked_for) {
  TestCgroup cgroup("new");
  cgroup.create();
  for (const LimitFound& limit : drift_of(cgroup, {}))
    BOOST_ERROR(limit.file << ": " << limit.found);
}

BOOST_AUTO_TEST_CASE(what_apply_has_written_is_as_asked,
                     *precondition(host_has("memory", "cpu", "cpuset", "pids"))) {
  TestCgroup cgroup("asked");
  cgroup.create();
  Resources resources;
  resources.memory.emplace();
  resources.memory->limit = (std::int64_t{64} << 20) + 1;  // the kernel rounds it down
  resources.memory->reservation = -1;
  resources.cpu.emplace();
  resources.cpu->shares = 1;  // the kernel makes it 2
  resources.cpu->quota = 50'000;
  resources.cpu->cpus = "0-0";
  resources.pids_limit = 20;
  must(cgroup->apply(resources));
  for (const LimitFound& limit : drift_of(cgroup, resources))
    BOOST_ERROR(limit.file << ": asked " << limit.asked << ", found " << limit.found);
}

BOOST_AUTO_TEST_CASE(a_value_that_somebody_writes_is_found,
                     *precondition(host_has("memory", "pids"))) {
  TestCgroup cgroup("written");
  cgroup.create();
  Resources resources;
  resources.pids_limit = 20;
  must(cgroup->apply(resources));
  must(cgroup.directory("pids").write("pids.max", "30"));
  must(cgroup.directory("memory").write("memory.soft_limit_in_bytes", "1048576"));
  const std::vector<LimitFound> drift = drift_of(cgroup, resources);
  BOOST_REQUIRE(drift.size() == 2u);
  BOOST_TEST(drift[0].pointer == "/linux/resources/pids/limit");
  BOOST_TEST(drift[0].asked == "20");
  BOOST_TEST(drift[0].found == "30");
  BOOST_TEST(drift[1].pointer.empty());
  BOOST_TEST(drift[1].file == "memory.soft_limit_in_bytes");
}

BOOST_AUTO_TEST_CASE(device_rules_of_v1_are_compared_as_sets, *precondition(host_has("devices"))) {
  TestCgroup cgroup("devices");
  const DeviceRule fuse{.allow = true,
                        .type = 'c',
                        .major = 10,
                        .minor = 229,
                        .read = true,
                        .write = true,
                        .mknod = false};
  cgroup.create({fuse});
  const std::vector<DeviceRule> rules{fuse};
  BOOST_TEST(must(has_device_rules(cgroup->record(), rules)).value());
  BOOST_TEST(!must(has_device_rules(cgroup->record(), {})).value());
  must(cgroup.directory("devices").write("devices.allow", "b 8:0 r"));
  BOOST_TEST(!must(has_device_rules(cgroup->record(), rules)).value());
}

BOOST_AUTO_TEST_CASE(all_devices_are_one_exception, *precondition(host_has("devices"))) {
  TestCgroup cgroup("all");
  cgroup.create();
  BOOST_TEST(must(has_device_rules(cgroup->record(), std::vector{allow_all()})).value());
  BOOST_TEST(!must(has_device_rules(cgroup->record(), {})).value());
}

BOOST_AUTO_TEST_CASE(the_program_of_v2_is_compared, *precondition(host_has("unified"))) {
  TestCgroup cgroup("program", unified_layout());
  const DeviceRule fuse{.allow = true,
                        .type = 'c',
                        .major = 10,
                        .minor = 229,
                        .read = true,
                        .write = true,
                        .mknod = false};
  cgroup.create({fuse});
  const std::vector<DeviceRule> rules{fuse};
  const auto same = must(has_device_rules(cgroup->record(), rules));
  if (!same) return;  // a kernel without CONFIG_CGROUP_BPF
  BOOST_TEST(*same);
  BOOST_TEST(!must(has_device_rules(cgroup->record(), {})).value());
}

BOOST_AUTO_TEST_SUITE_END()
