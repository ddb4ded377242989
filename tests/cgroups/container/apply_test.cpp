#include <linux/kdev_t.h>
#include <sys/mman.h>

#include <cstring>

#include "cgroups/statistics/stats.hpp"
#include "linux/base/syscalls.hpp"
#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

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

/// Holds `bytes` of memory for ever; writes to the pipe `ready` once it has them.
int hold(std::int64_t bytes, int ready) {
  const auto size = static_cast<std::size_t>(bytes);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  std::memset(memory, 1, size);
  if (::write(ready, "x", 1) != 1) return 1;
  return Member::sleep_forever();
}

/// Returns 0, or the errno of open(2).
int try_open(const char* path, int flags) {
  const int fd = ::open(path, flags | O_CLOEXEC | O_NONBLOCK);
  return fd < 0 ? errno : 0;
}

DeviceRule device(bool allow, std::int64_t major, std::optional<std::int64_t> minor,
                  std::string_view access) {
  return {.allow = allow,
          .type = 'c',
          .major = major,
          .minor = minor,
          .read = access.contains('r'),
          .write = access.contains('w'),
          .mknod = access.contains('m')};
}

/// What a member may open: /dev/kmsg is 1:11, no default device.
struct Access {
  int null_rw, kmsg_r, kmsg_w;
};
Access access_in(const TestCgroup& cgroup) {
  const auto inside = [&](const char* path, int flags) {
    Member member(cgroup, [=] { return try_open(path, flags); });
    return member.wait();
  };
  return {inside("/dev/null", O_RDWR), inside("/dev/kmsg", O_RDONLY),
          inside("/dev/kmsg", O_WRONLY)};
}

auto needs(const char* controller) { return boost::unit_test::precondition(host_has(controller)); }
const auto kHugetlbIsUnified = boost::unit_test::precondition(
    [](boost::unit_test::test_unit_id) -> boost::test_tools::assertion_result {
      if (::geteuid() == 0 && !unified_layout().hierarchies.empty() && !host_layout().pure_v2()) {
        const auto root =
            must(Directory::open(unified_layout().hierarchies.front().mount_point.string()));
        if (root.read_or_empty("cgroup.controllers").contains("hugetlb")) return true;
      }
      boost::test_tools::assertion_result no(false);
      no.message() << "hugetlb is not in the unified hierarchy of a hybrid host";
      return no;
    });

}  // namespace

BOOST_AUTO_TEST_SUITE(apply, *boost::unit_test::precondition(host_has()))

BOOST_AUTO_TEST_CASE(memory_is_raised_and_lowered_with_swap, *needs("memory"))  // R-11 R-13
{
  TestCgroup cgroup("memory");
  cgroup.create();
  const auto limits = [&] {
    return cgroup.read("memory", "memory.limit_in_bytes") + " " +
           cgroup.read("memory", "memory.memsw.limit_in_bytes");
  };
  Memory memory;
  memory.limit = 64 * kMiB;
  memory.swap = 64 * kMiB;
  memory.reservation = 32 * kMiB;
  memory.swappiness = 10;
  memory.kernel = -1;
  memory.kernel_tcp = 0;
  memory.disable_oom_killer = true;
  must(cgroup->apply(with(memory)));
  BOOST_TEST(limits() == "67108864 67108864");
  BOOST_TEST(cgroup.read("memory", "memory.soft_limit_in_bytes") == "33554432");
  BOOST_TEST(cgroup.read("memory", "memory.swappiness") == "10");
  BOOST_TEST(cgroup.read("memory", "memory.oom_control").starts_with("oom_kill_disable 1"));

  memory = {};
  memory.limit = memory.swap = 128 * kMiB;  // the limit alone would be above memory+swap
  must(cgroup->apply(with(memory)));
  BOOST_TEST(limits() == "134217728 134217728");
  memory.limit = memory.swap = 32 * kMiB;  // memory+swap alone would be below the limit
  must(cgroup->apply(with(memory)));
  BOOST_TEST(limits() == "33554432 33554432");
  memory = {};
  memory.limit = -1;
  must(cgroup->apply(with(memory)));
  BOOST_TEST(cgroup.read("memory", "memory.memsw.limit_in_bytes").size() > 15u);
}

BOOST_AUTO_TEST_CASE(a_limit_below_the_usage_says_how_much_is_used, *needs("memory"))
{
  TestCgroup cgroup("busy");
  cgroup.create();
  int ready[2];
  BOOST_REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
  Member member(cgroup, [&] { return hold(32 * kMiB, ready[1]); });
  char byte = 0;
  BOOST_REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);
  Memory memory;
  memory.limit = 4 * kMiB;
  memory.swap = 4 * kMiB;
  const std::string message = must_fail(cgroup->apply(with(memory)));
  BOOST_TEST(message.starts_with("/linux/resources/memory/limit: the container already uses 3"));
  BOOST_TEST(message.ends_with("memory.limit_in_bytes: device or resource busy"));
}

BOOST_AUTO_TEST_CASE(a_limit_that_the_kernel_has_given_up_is_told_once_and_done_without,
                     *needs("memory"))
{
  TestCgroup cgroup("kmem");
  cgroup.create();
  std::vector<std::string> told;
  cgroup->on_dropped_limit([&](const std::string& sentence) { told.push_back(sentence); });
  Memory memory;
  memory.limit = 64 * kMiB;
  memory.kernel = 8 * kMiB;
  must(cgroup->apply(with(memory)));
  ignore(must(cgroup->update(with(memory))));
  BOOST_TEST(cgroup.read("memory", "memory.limit_in_bytes") == "67108864");
  if (cgroup.read("memory", "memory.kmem.limit_in_bytes") == "8388608") {
    BOOST_TEST(told.empty());  // a kernel before 5.16 has the limit
  } else {
    BOOST_REQUIRE(told.size() == 1);
    BOOST_TEST(told[0].starts_with("/linux/resources/memory/kernel: Linux "));
    BOOST_TEST(told[0].find(" no longer has this limit") != std::string::npos);
  }
  told.clear();
  memory.kernel = -1;
  must(cgroup->apply(with(memory)));
  BOOST_TEST(told.empty());
}

BOOST_AUTO_TEST_CASE(cpu_limits_are_set_in_any_order, *needs("cpu"))  // R-20 R-21 R-22 R-25
{
  TestCgroup cgroup("cpu");
  cgroup.create();
  Cpu cpu;
  cpu.shares = 512;
  cpu.quota = 50000;
  cpu.period = 100000;
  cpu.burst = 40000;
  cpu.idle = 0;
  must(cgroup->apply(with(cpu)));
  BOOST_TEST(cgroup.read("cpu", "cpu.shares") == "512");
  BOOST_TEST(cgroup.read("cpu", "cpu.cfs_quota_us") == "50000");
  BOOST_TEST(cgroup.read("cpu", "cpu.cfs_period_us") == "100000");
  BOOST_TEST(cgroup.read("cpu", "cpu.cfs_burst_us") == "40000");

  cpu = {};
  cpu.quota = 20000;  // below the burst: EINVAL until the burst is smaller
  cpu.burst = 10000;
  must(cgroup->apply(with(cpu)));
  cpu.quota = 90000;
  cpu.burst = 80000;
  must(cgroup->apply(with(cpu)));
  BOOST_TEST(cgroup.read("cpu", "cpu.cfs_burst_us") == "80000");

  cpu = {};
  cpu.idle = 1;
  cpu.shares = 300;
  must(cgroup->apply(with(cpu)));
  must(cgroup->apply(with(cpu)));  // idle already
  BOOST_TEST(cgroup.read("cpu", "cpu.idle") == "1");
  cpu.idle.reset();
  BOOST_TEST(must_fail(cgroup->apply(with(cpu))).contains("an idle cgroup has no shares"));

  cpu = {};
  cpu.quota = 10;
  BOOST_TEST(must_fail(cgroup->apply(with(cpu)))
                 .starts_with("/linux/resources/cpu/quota: the quota must be at least 1000 "));
}

BOOST_AUTO_TEST_CASE(realtime_is_given_to_our_own_parents_too, *needs("cpu"))
{
  const auto cgroup = must(make_cgroup(
      host_layout(), must(place("realtime-" + std::to_string(::getpid()) + "/c", "unused"))));
  must(cgroup->create({}));
  Cpu cpu;
  cpu.realtime_runtime = 10000;
  cpu.realtime_period = 500000;
  const auto applied = cgroup->apply(with(cpu));
  const auto cpu_directory = std::ranges::find_if(cgroup->record().directories, [](const auto& d) {
    return d.first == "cpu" || d.first.starts_with("cpu,");
  });
  const Directory directory = must(Directory::open(cpu_directory->second));
  const bool kernel_has_it = !directory.read_or_empty("cpu.rt_runtime_us").empty();
  BOOST_TEST(applied.has_value() == kernel_has_it);
  if (kernel_has_it) BOOST_TEST(directory.read_or_empty("cpu.rt_runtime_us") == "10000");
  must(cgroup->destroy());

  TestCgroup elsewhere("realtime");
  elsewhere.create();
  const std::string message = must_fail(elsewhere->apply(with(cpu)));
  BOOST_TEST(message.starts_with("/linux/resources/cpu/realtime"));
  if (kernel_has_it)
    BOOST_TEST(message.contains("the cgroup above has 0 microseconds of real-time runtime"));
}

BOOST_AUTO_TEST_CASE(cpusets_are_inherited_and_set, *needs("cpuset"))
{
  TestCgroup cgroup("a/b/cpuset");
  cgroup.create();
  const Directory root = must(Directory::open(cgroup.directory("cpuset").path() + "/../../../.."));
  BOOST_TEST(cgroup.read("cpuset", "cpuset.cpus") == root.read_or_empty("cpuset.cpus"));
  BOOST_TEST(cgroup.read("cpuset", "cpuset.mems") == root.read_or_empty("cpuset.mems"));
  Cpu cpu;
  cpu.cpus = "0";
  cpu.mems = "0";
  must(cgroup->apply(with(cpu)));
  BOOST_TEST(cgroup.read("cpuset", "cpuset.cpus") == "0");
  cpu.cpus = "100000";
  const std::string message = must_fail(cgroup->apply(with(cpu)));
  BOOST_TEST(message.starts_with("/linux/resources/cpu/cpus: the cgroup above allows the CPUs 0"));
}

BOOST_AUTO_TEST_CASE(no_process_may_be_forked_at_a_limit_of_0, *needs("pids"))
{
  TestCgroup cgroup("pids");
  cgroup.create();
  Resources resources;
  resources.pids_limit = 0;
  must(cgroup->apply(resources));
  Member member(cgroup, [] { return ::fork() < 0 ? errno : 0; });
  BOOST_TEST(member.wait() == EAGAIN);
  resources.pids_limit = -1;
  must(cgroup->apply(resources));
  BOOST_TEST(cgroup.read("pids", "pids.max") == "max");
}

BOOST_AUTO_TEST_CASE(block_weights_go_where_the_kernel_has_them, *needs("blkio"))  // R-30 R-31
{
  TestCgroup cgroup("blkio");
  cgroup.create();
  Resources resources;
  resources.block_io = BlockIo{};
  resources.block_io->weight = 300;
  const std::vector<std::string> files = cgroup.directory("blkio").files();
  const auto has = [&](const char* file) { return std::ranges::find(files, file) != files.end(); };
  const auto applied = cgroup->apply(resources);
  if (has("blkio.weight") || has("blkio.bfq.weight"))
    BOOST_TEST(cgroup.read("blkio", has("blkio.weight") ? "blkio.weight" : "blkio.bfq.weight") ==
               "300");
  else
    BOOST_TEST(applied.error().message().starts_with("/linux/resources/blockIO/weight: "));
  if (!has("blkio.leaf_weight")) {
    resources.block_io->leaf_weight = 10;
    BOOST_TEST(must_fail(cgroup->apply(resources)).contains("leaf weights went with"));
  }
}

BOOST_AUTO_TEST_CASE(a_device_that_does_not_exist_cannot_be_throttled, *needs("blkio"))
{
  TestCgroup cgroup("throttle");
  cgroup.create();
  Resources resources;
  resources.block_io = BlockIo{};
  resources.block_io->read_bps = {{4095, 1048575, 1000}};
  const std::string message = must_fail(cgroup->apply(resources));
  BOOST_TEST(message.starts_with(
      "/linux/resources/blockIO/throttleReadBpsDevice/0: no such block device: write "
      "4095:1048575 1000 to "));
}

BOOST_AUTO_TEST_CASE(huge_pages_in_the_unified_hierarchy_of_a_hybrid_host,
                     *kHugetlbIsUnified)
{
  TestCgroup cgroup("huge/pages");
  cgroup.create();
  Member member(cgroup);  // a limit may come after the process
  Resources resources;
  resources.hugepage_limits = {{"2MB", 4 * 1024 * 1024}};
  must(cgroup->apply(resources));
  BOOST_TEST(cgroup.read("", "hugetlb.2MB.max") == "4194304");
  BOOST_TEST(cgroup.read("", "hugetlb.2MB.rsvd.max") == "4194304");
  resources.hugepage_limits = {{"3MB", 1}};
  const std::string message = must_fail(cgroup->apply(resources));
  BOOST_TEST(message.contains("this host has huge pages of "));
  BOOST_TEST(message.contains("2MB"));  // some CPUs have 1GB too
  resources.hugepage_limits.clear();
  resources.unified = {{"hugetlb.2MB.max", "2097152"}};
  must(cgroup->apply(resources));
  BOOST_TEST(cgroup.read("", "hugetlb.2MB.max") == "2097152");
  BOOST_TEST(must(cgroup->stats()).hugetlb.contains("2MB"));
}

BOOST_AUTO_TEST_CASE(the_unified_hierarchy_alone_gets_its_controllers_at_creation,
                     *kHugetlbIsUnified) {
  TestCgroup cgroup("v2/only", unified_layout());
  cgroup.create();
  BOOST_TEST(cgroup.read("", "cgroup.controllers").contains("hugetlb"));
  Resources resources;
  resources.pids_limit = 5;
  BOOST_TEST(must_fail(cgroup->apply(resources)).contains("the pids controller is neither"));
  Member member(cgroup);
  // The cgroup holds a process now, so it cannot enable controllers for a nested cgroup.
  TestCgroup below("v2/only/below", unified_layout());
  below.create();
  resources = {};
  resources.hugepage_limits = {{"2MB", 0}};
  const std::string message = must_fail(below->apply(resources));
  BOOST_TEST(message.contains("holds processes itself"));
  BOOST_TEST(message.ends_with("device or resource busy"));
}

BOOST_AUTO_TEST_CASE(devices_that_are_not_listed_are_refused, *needs("devices"))  // R-10 L-27 L-28
{
  TestCgroup closed("devices-closed"), readable("devices-readable"), open("devices-open");
  closed.create({});
  readable.create({device(true, 1, 11, "r")});
  open.create({allow_all()});
  const Access in_closed = access_in(closed);
  BOOST_TEST(in_closed.null_rw == 0);
  BOOST_TEST(in_closed.kmsg_r == EPERM);
  const Access in_readable = access_in(readable);
  BOOST_TEST(in_readable.kmsg_r == 0);
  BOOST_TEST(in_readable.kmsg_w == EPERM);
  BOOST_TEST(access_in(open).kmsg_r == 0);
  must(closed->restrict_devices(std::vector{device(true, 1, 11, "r")}));
  BOOST_TEST(access_in(closed).kmsg_r == 0);
}

BOOST_AUTO_TEST_CASE(the_device_program_of_v2_refuses_the_same, *needs("unified"))
{
  TestCgroup cgroup("devices-bpf", unified_layout());
  cgroup.create({});
  Access inside = access_in(cgroup);
  BOOST_TEST(inside.null_rw == 0);
  BOOST_TEST(inside.kmsg_r == EPERM);
  must(cgroup->restrict_devices(std::vector{device(true, 1, 11, "r")}));  // in its place
  inside = access_in(cgroup);
  BOOST_TEST(inside.null_rw == 0);
  BOOST_TEST(inside.kmsg_r == 0);
  BOOST_TEST(inside.kmsg_w == EPERM);
  // The last rule decides, a part of a wider one too.
  must(
      cgroup->restrict_devices(std::vector{device(true, 1, {}, "rwm"), device(false, 1, 11, "w")}));
  inside = access_in(cgroup);
  BOOST_TEST(inside.kmsg_r == 0);
  BOOST_TEST(inside.kmsg_w == EPERM);
  must(cgroup->restrict_devices(std::vector{device(false, 1, 11, "rwm"), allow_all()}));
  BOOST_TEST(access_in(cgroup).kmsg_w == 0);
  must(cgroup->restrict_devices(std::vector{allow_all(), device(false, 1, 11, "r")}));
  inside = access_in(cgroup);
  BOOST_TEST(inside.kmsg_r == EPERM);
  BOOST_TEST(inside.kmsg_w == 0);
  DeviceRule every_character_device = allow_all();
  every_character_device.type = 'c';
  // A rule for every character device ends the program: the kernel refuses unreachable
  // instructions.
  must(cgroup->restrict_devices(std::vector{every_character_device}));
  BOOST_TEST(access_in(cgroup).kmsg_w == 0);
  std::vector<DeviceRule> many;
  for (std::int64_t i = 0; i < 2000; ++i) many.push_back(device(i % 2 == 0, 300 + i, i, "rw"));
  must(cgroup->restrict_devices(many));
  BOOST_TEST(access_in(cgroup).kmsg_r == EPERM);
  for (std::int64_t i = 0; i < 9000; ++i) many.push_back(device(true, 3000, i, "rw"));
  BOOST_TEST(must_fail(cgroup->restrict_devices(many)).contains("too many rules"));
}

// The new directory has no device program.
BOOST_AUTO_TEST_CASE(nobody_joins_a_directory_that_replaces_the_cgroup, *needs("unified")) {
  TestCgroup cgroup("replaced", unified_layout());
  cgroup.create({});
  const std::string path = cgroup->record().directories.front().second;
  must(remove_directory(path));
  must(make_directory(path));
  const UniqueFd replacement = must(linux::sys::open(path.c_str(), O_PATH | O_DIRECTORY));
  const auto handles = cgroup->open_for_join();
  BOOST_TEST(
      (!handles || !must(linux::sys::is_same_file(handles->unified_directory, replacement))));
}

BOOST_AUTO_TEST_CASE(usage_is_measured,
                     *boost::unit_test::precondition(host_has("memory", "pids", "cpuacct",
                                                              "cpu"))) {
  TestCgroup cgroup("stats");
  cgroup.create();
  Resources resources;
  resources.pids_limit = 7;
  resources.memory = Memory{};
  resources.memory->limit = 256 * kMiB;
  must(cgroup->apply(resources));
  int ready[2];
  BOOST_REQUIRE(::pipe2(ready, O_CLOEXEC) == 0);
  Member member(cgroup, [&] { return hold(16 * kMiB, ready[1]); });
  char byte = 0;
  BOOST_REQUIRE(::read(ready[0], &byte, 1) == 1);
  ::close(ready[0]);
  ::close(ready[1]);

  const Stats stats = must(cgroup->stats());
  BOOST_REQUIRE(stats.pids);
  BOOST_TEST(stats.pids->current == 1u);
  BOOST_TEST(stats.pids->limit.value() == 7u);
  BOOST_REQUIRE(stats.memory);
  BOOST_TEST(stats.memory->memory.usage > 15u * kMiB);
  BOOST_TEST(stats.memory->memory.limit == 256u * kMiB);
  BOOST_TEST(stats.memory->raw.contains("rss"));
  BOOST_REQUIRE(stats.memory->kernel);
  BOOST_TEST(is_unlimited(stats.memory->kernel->limit));
  BOOST_TEST(!is_unlimited(stats.memory->memory.limit));
  BOOST_REQUIRE(stats.cpu);
  BOOST_TEST(stats.cpu->total_ns > 0u);
  BOOST_TEST(!stats.cpu->per_cpu_ns.empty());
  BOOST_TEST(stats.cpu->total_ns <= 10'000'000'000u);
}

BOOST_AUTO_TEST_CASE(the_unified_hierarchy_measures_cpu_time, *needs("unified")) {
  TestCgroup cgroup("stats-v2", unified_layout());
  cgroup.create();
  Member member(cgroup);
  const Stats stats = must(cgroup->stats());
  BOOST_REQUIRE(stats.cpu);
  BOOST_TEST(stats.cpu->total_ns == stats.cpu->user_ns + stats.cpu->system_ns);
}

BOOST_AUTO_TEST_SUITE_END()
