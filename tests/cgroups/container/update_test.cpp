#include "cgroups/container/apply.hpp"
#include "cgroups/plan/device_rules.hpp"
#include "cgroups/plan/resources.hpp"
#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

DeviceRule rule(bool allow, char type, std::optional<std::int64_t> major,
                std::optional<std::int64_t> minor, std::string_view access) {
  return {.allow = allow,
          .type = type,
          .major = major,
          .minor = minor,
          .read = access.contains('r'),
          .write = access.contains('w'),
          .mknod = access.contains('m')};
}

Memory memory(std::int64_t limit, std::optional<std::int64_t> swap = {}) {
  Memory section;
  section.limit = limit;
  section.swap = swap;
  return section;
}

std::string text_of(const DeviceChange& change) {
  std::string text;
  for (const Write& write : change.writes)
    text += fmt::format("{} {}; ", write.file.substr(8), write.value);
  return text;
}

const auto kMemory = boost::unit_test::precondition(host_has("memory", "pids"));
const auto kDevices = boost::unit_test::precondition(host_has("devices"));

}  // namespace

BOOST_AUTO_TEST_SUITE(update)

BOOST_AUTO_TEST_CASE(a_value_is_restored_by_its_text) {
  BOOST_TEST(restoring_value("pids.max", "max", "5") == "max");
  BOOST_TEST(restoring_value("cpu.max", "max 100000", "5000 100000") == "max 100000");
  BOOST_TEST(restoring_value("cpuset.cpus", "", "0-1") == "\n");
}

BOOST_AUTO_TEST_CASE(a_device_is_restored_by_its_line_or_cleared) {
  const std::string io_max =
      "8:0 rbps=1 wbps=max riops=max wiops=max\n8:16 rbps=2 wbps=max riops=max wiops=max";
  BOOST_TEST(restoring_value("io.max", io_max, "8:16 rbps=9") ==
             "8:16 rbps=2 wbps=max riops=max wiops=max");
  BOOST_TEST(restoring_value("io.max", io_max, "8:1 rbps=9") ==
             "8:1 rbps=max wbps=max riops=max wiops=max");
  BOOST_TEST(restoring_value("blkio.throttle.read_bps_device", "8:0 5", "8:16 7") == "8:16 0");
  BOOST_TEST(restoring_value("io.bfq.weight", "default 100\n8:0 50", "300") == "default 100");
  BOOST_TEST(restoring_value("io.bfq.weight", "default 100\n8:0 50", "8:0 300") == "8:0 50");
  BOOST_TEST(restoring_value("io.bfq.weight", "default 100", "8:0 300") == "8:0 default");
}

BOOST_AUTO_TEST_CASE(the_oom_switch_is_restored_without_its_counters) {
  BOOST_TEST(restoring_value("memory.oom_control", "oom_kill_disable 1\nunder_oom 0\noom_kill 3",
                             "0") == "1");
}

BOOST_AUTO_TEST_CASE(an_update_joins_what_holds_already) {
  Resources now;
  now.memory = memory(10);
  now.memory->reservation = 5;
  now.block_io.emplace().read_bps = {{8, 0, 1}, {8, 16, 2}};
  now.unified = {{"memory.high", "1"}};
  now.devices = {rule(false, 'a', {}, {}, "rwm")};
  Resources change;
  change.memory = memory(20);
  change.pids_limit = 3;
  change.block_io.emplace().read_bps = {{8, 16, 9}, {8, 32, 4}};
  change.unified = {{"memory.high", "2"}, {"memory.min", "3"}};
  const Resources both = merge(now, change);
  BOOST_TEST(both.memory->limit.value() == 20);
  BOOST_TEST(both.memory->reservation.value() == 5);
  BOOST_TEST(both.pids_limit.value() == 3);
  BOOST_REQUIRE(both.block_io->read_bps.size() == 3U);
  BOOST_TEST(both.block_io->read_bps[1].rate == 9U);
  BOOST_REQUIRE(both.unified.size() == 2U);
  BOOST_TEST(both.unified[0].second == "2");
  BOOST_TEST((both.devices == now.devices));
}

BOOST_AUTO_TEST_CASE(device_rules_change_one_by_one_while_the_default_stays) {
  const std::vector<DeviceRule> old = {rule(true, 'c', 1, 11, "r"), rule(true, 'c', 10, 229, "rw")};
  const std::vector<DeviceRule> now = {rule(true, 'c', 1, 11, "rw"), rule(true, 'b', 8, 0, "r")};
  const DeviceChange change = must(plan_device_change_v1(old, now));
  BOOST_TEST(!change.passes_through_nothing);
  BOOST_TEST(text_of(change) == "allow c 1:11 w; allow b 8:0 r; deny c 10:229 rw; ");
  BOOST_TEST(text_of(must(plan_device_change_v1(now, now))).empty());
}

BOOST_AUTO_TEST_CASE(denials_from_everything_change_one_by_one_too) {
  const std::vector<DeviceRule> old = {allow_all(), rule(false, 'c', 1, 11, "rwm")};
  const std::vector<DeviceRule> now = {allow_all(), rule(false, 'c', 10, 229, "w")};
  const DeviceChange change = must(plan_device_change_v1(old, now));
  BOOST_TEST(!change.passes_through_nothing);
  BOOST_TEST(text_of(change) == "allow c 1:11 rw; deny c 10:229 w; ");
}

BOOST_AUTO_TEST_CASE(another_default_is_a_list_made_anew) {
  const std::vector<DeviceRule> everything = {allow_all()};
  const DeviceChange change = must(plan_device_change_v1(everything, {}));
  BOOST_TEST(change.passes_through_nothing);
  BOOST_TEST(text_of(change).starts_with("deny a; allow "));
}

BOOST_AUTO_TEST_CASE(an_update_that_fails_leaves_every_file_as_it_was, *kMemory) {
  TestCgroup cgroup("update");
  cgroup.create();
  Resources first;
  first.memory = memory(64 * kMebibyte, 64 * kMebibyte);
  first.pids_limit = 40;
  must(cgroup->apply(first));
  const auto values = [&] {
    return fmt::format("{} {} {}", cgroup.read("memory", "memory.limit_in_bytes"),
                       cgroup.read("memory", "memory.memsw.limit_in_bytes"),
                       cgroup.read("pids", "pids.max"));
  };
  const std::string before = values();

  Resources change;
  change.memory = memory(128 * kMebibyte, 128 * kMebibyte);
  change.pids_limit = 5;
  change.block_io.emplace().read_bps = {{8, 0, 1}};
  change.block_io->leaf_weight = 500;  // no kernel since 5.0 has it
  must_fail(cgroup->update(change));
  BOOST_TEST(values() == before);

  change.block_io.reset();
  const Writes old_values = must(cgroup->update(change));
  BOOST_TEST(values() == "134217728 134217728 5");
  cgroup->restore(old_values);
  BOOST_TEST(values() == before);
}

BOOST_AUTO_TEST_CASE(rules_of_a_cgroup_in_use_change_and_change_back, *kDevices) {
  const auto kmsg = [] {
    const int fd = ::open("/dev/kmsg", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    return fd < 0 ? errno : 0;
  };
  const std::vector<DeviceRule> none, one = {rule(true, 'c', 1, 11, "r")}, all = {allow_all()};
  TestCgroup cgroup("rules");
  cgroup.create({});
  Member inside(cgroup);
  const auto reads_kmsg = [&] {
    Member member(cgroup, kmsg);
    return member.wait() == 0;
  };
  BOOST_TEST(!reads_kmsg());
  must(cgroup->change_devices(none, one));
  BOOST_TEST(reads_kmsg());
  must(cgroup->change_devices(one, none));
  BOOST_TEST(!reads_kmsg());
  must(cgroup->change_devices(none, all));
  BOOST_TEST(reads_kmsg());
  must(cgroup->change_devices(all, none));
  BOOST_TEST(!reads_kmsg());
  BOOST_TEST((must(cgroup->freezer_state()) == FreezerState::kThawed));
}

BOOST_AUTO_TEST_CASE(the_watch_tells_of_a_kill_for_want_of_memory, *kMemory) {
  TestCgroup cgroup("oom");
  cgroup.create();
  Resources limits;
  limits.memory = memory(8 * kMebibyte, 8 * kMebibyte);
  must(cgroup->apply(limits));
  OomWatch watch = must(cgroup->watch_oom());
  BOOST_TEST(!watch.happened());
  const std::uint64_t kills_before = cgroup->oom_kills().value();
  Member hog(cgroup, [] {
    std::string much(std::size_t{64} << 20, 'x');
    return much.size() > 5 ? 0 : 1;
  });
  BOOST_TEST(hog.wait() == -SIGKILL);
  BOOST_TEST(watch.happened());
  BOOST_TEST(!watch.happened());
  BOOST_TEST(cgroup->oom_kills().value() == kills_before + 1);
}

BOOST_AUTO_TEST_SUITE_END()
