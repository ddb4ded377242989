#include "shim/metrics/metrics.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <limits>
#include <string>

#include "shim/metrics/parts.hpp"
#include "shim/metrics/process_cgroup.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using ocirun::test::must;

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

template <typename Message>
Received<Message> unpack(const PackedMetrics& metrics) {
  return Received<Message>::read(metrics.value).value();
}

cgroups::Stats example() {
  cgroups::Stats stats;
  stats.cpu = cgroups::CpuStats{.total_ns = 9000,
                                .user_ns = 5000,
                                .system_ns = 4000,
                                .per_cpu_ns = {6000, 3000},
                                .periods = 3,
                                .throttled_periods = 2,
                                .throttled_ns = 7000,
                                .bursts = 1,
                                .burst_ns = 2000};
  auto& memory = stats.memory.emplace();
  memory.memory = {.usage = 100, .max_usage = 200, .fail_count = 3, .limit = 400};
  memory.swap = {.usage = 120, .max_usage = 0, .fail_count = 4, .limit = kMost};
  memory.swap_alone = {.usage = 20, .max_usage = 30, .fail_count = 4, .limit = kMost};
  memory.raw = {{"total_inactive_file", 11},
                {"total_rss", 12},
                {"total_pgfault", 13},
                {"total_pgmajfault", 14},
                {"anon", 21},
                {"inactive_file", 22},
                {"pgmajfault", 23},
                {"swap", 24},
                {"hierarchical_memsw_limit", 25},
                {"workingset_refault_anon", 26}};
  memory.events = {{"oom_kill_disable", 1}, {"under_oom", 1},     {"low", 2}, {"max", 3},
                   {"oom_kill", 5},         {"oom_group_kill", 6}};
  stats.pids = cgroups::PidsStats{.current = 7, .limit = std::nullopt};
  stats.block_io["ioServiceBytesRecursive"] = {
      {.major = 8, .minor = 0, .operation = "Read", .value = 4096},
      {.major = 8, .minor = 0, .operation = "Write", .value = 512},
      {.major = 8, .minor = 16, .operation = "Discard", .value = 1}};
  stats.block_io["ioServicedRecursive"] = {
      {.major = 8, .minor = 16, .operation = "Write", .value = 2}};
  stats.block_io["sectorsRecursive"] = {{.major = 8, .minor = 0, .operation = "", .value = 9}};
  stats.hugetlb["2MB"] = {.usage = 1, .max_usage = 2, .fail_count = 3, .limit = 4};
  stats.rdma["mlx4_0"] = {.handles = 1, .objects = 2, .handle_limit = 3, .object_limit = 4};
  stats.cpu_pressure = {.some = {.avg10 = 125, .avg60 = 50, .avg300 = 1, .total_us = 77},
                        .full = {}};
  return stats;
}

/// A child that has ended, or that waits for its end.
class Child {
 public:
  enum class Lives { kBriefly, kLong };
  explicit Child(Lives lives) : pid_(::fork()) {
    if (pid_ == 0) {
      if (lives == Lives::kLong) ::pause();
      ::_exit(0);
    }
    siginfo_t information;
    if (lives == Lives::kBriefly)
      ::waitid(P_PID, static_cast<id_t>(pid_), &information, WEXITED | WNOWAIT);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { collect(); }
  int pid() const { return pid_; }
  void collect() {
    if (collected_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    collected_ = true;
  }

 private:
  int pid_;
  bool collected_ = false;
};

bool is_pure_v2(int pid) {
  return must(read_metrics(pid)).type_url == "io.containerd.cgroups.v2.Metrics";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(metrics)

BOOST_AUTO_TEST_CASE(v1_has_what_clients_read) {
  const PackedMetrics packed = pack_v1(example());
  BOOST_TEST(packed.type_url == "io.containerd.cgroups.v1.Metrics");
  const auto v1 = unpack<Metrics__V1>(packed);
  BOOST_TEST(v1->cpu->usage->total == 9000U);
  BOOST_TEST(v1->cpu->usage->kernel == 4000U);
  BOOST_TEST(v1->cpu->usage->user == 5000U);
  BOOST_REQUIRE(v1->cpu->usage->n_per_cpu == 2U);
  BOOST_TEST(v1->cpu->usage->per_cpu[1] == 3000U);
  BOOST_TEST(v1->cpu->throttling->throttled_time == 7000U);
  BOOST_TEST(v1->memory->total_inactive_file == 11U);
  BOOST_TEST(v1->memory->total_rss == 12U);
  BOOST_TEST(v1->memory->total_pgfault == 13U);
  BOOST_TEST(v1->memory->total_pgmajfault == 14U);
  BOOST_TEST(v1->memory->hierarchical_memsw_limit == 25U);
  BOOST_TEST(v1->memory->usage->usage == 100U);
  BOOST_TEST(v1->memory->usage->limit == 400U);
  BOOST_TEST(v1->memory->usage->max == 200U);
  BOOST_TEST(v1->memory->usage->failcnt == 3U);
  BOOST_TEST(v1->memory->swap->usage == 120U);
  BOOST_REQUIRE(v1->memory->kernel_tcp != nullptr);  // also if the kernel counts none
  BOOST_TEST(v1->oom_control->oom_kill == 5U);
  BOOST_TEST(v1->oom_control->under_oom == 1U);
  BOOST_TEST(v1->pids->current == 7U);
  BOOST_TEST(v1->pids->limit == 0U);
  BOOST_REQUIRE(v1->hugetlb[0] != nullptr);
  BOOST_TEST(v1->hugetlb[0]->page_size == std::string("2MB"));
  BOOST_TEST(v1->hugetlb[0]->max == 2U);
  BOOST_TEST(v1->rdma->limit[0]->objects == 4U);
}

BOOST_AUTO_TEST_CASE(v1_lists_block_io_by_operation) {
  const auto v1 = unpack<Metrics__V1>(pack_v1(example()));
  BOOST_REQUIRE(v1->block_io->n_service_bytes == 3U);
  BOOST_TEST(v1->block_io->service_bytes[1]->operation == std::string("Write"));
  BOOST_TEST(v1->block_io->service_bytes[1]->major == 8U);
  BOOST_TEST(v1->block_io->service_bytes[1]->value == 512U);
  BOOST_TEST(v1->block_io->service_bytes[2]->minor == 16U);
  BOOST_TEST(v1->block_io->n_serviced == 1U);
  BOOST_TEST(v1->block_io->n_queued == 0U);
  BOOST_REQUIRE(v1->block_io->n_sectors == 1U);
  BOOST_TEST(v1->block_io->sectors[0]->operation == std::string());
}

BOOST_AUTO_TEST_CASE(v2_has_what_clients_read) {
  const PackedMetrics packed = pack_v2(example());
  BOOST_TEST(packed.type_url == "io.containerd.cgroups.v2.Metrics");
  const auto v2 = unpack<Metrics__V2>(packed);
  BOOST_TEST(v2->cpu->usage_usec == 9U);
  BOOST_TEST(v2->cpu->system_usec == 4U);
  BOOST_TEST(v2->cpu->nr_throttled == 2U);
  BOOST_TEST(v2->cpu->throttled_usec == 7U);
  BOOST_TEST(v2->cpu->nr_bursts == 1U);
  BOOST_TEST(v2->cpu->burst_usec == 2U);
  BOOST_TEST(v2->cpu->pressure->some->avg10 == 1.25);
  BOOST_TEST(v2->cpu->pressure->some->total == 77U);
  BOOST_TEST(v2->memory->pressure == nullptr);
  BOOST_TEST(v2->memory->anon == 21U);
  BOOST_TEST(v2->memory->inactive_file == 22U);
  BOOST_TEST(v2->memory->pgmajfault == 23U);
  BOOST_TEST(v2->memory->workingset_refault_anon == 26U);
  BOOST_TEST(v2->memory->usage == 100U);
  BOOST_TEST(v2->memory->usage_limit == 400U);
  BOOST_TEST(v2->memory->max_usage == 200U);
  BOOST_TEST(v2->memory->swap_usage == 20U);
  BOOST_TEST(v2->memory->swap_limit == kMost);
  BOOST_TEST(v2->memory->swap_max_usage == 30U);
  BOOST_TEST(v2->memory_events->max == 3U);
  BOOST_TEST(v2->memory_events->oom_kill == 5U);
  BOOST_TEST(v2->memory_events->oom_group_kill == 6U);
  BOOST_TEST(v2->pids->limit == kMost);
  BOOST_REQUIRE(v2->n_hugetlb == 1U);
  BOOST_TEST(v2->hugetlb[0]->max == 4U);
  BOOST_TEST(v2->hugetlb[0]->failcnt == 3U);
  BOOST_TEST(v2->rdma->current[0]->device == std::string("mlx4_0"));
}

BOOST_AUTO_TEST_CASE(v2_has_one_io_entry_for_each_device) {
  const auto v2 = unpack<Metrics__V2>(pack_v2(example()));
  BOOST_REQUIRE(v2->io->n_usage == 2U);
  BOOST_TEST(v2->io->usage[0]->rbytes == 4096U);
  BOOST_TEST(v2->io->usage[0]->wbytes == 512U);
  BOOST_TEST(v2->io->usage[1]->minor == 16U);
  BOOST_TEST(v2->io->usage[1]->wios == 2U);
}

// The numbers of the fields, as bytes: a change of metrics.proto alone would not be seen above.
BOOST_AUTO_TEST_CASE(the_encoding_is_that_of_containerd) {
  cgroups::Stats stats;
  stats.pids = cgroups::PidsStats{.current = 7, .limit = 9};
  stats.memory.emplace().memory.usage = 5;
  using namespace std::string_literals;
  // pids 2, memory 4 (usage 33, swap 34, kernel 35, kernel_tcp 36), blkio 5, oom control 9
  BOOST_TEST(pack_v1(stats).value ==
             "\x12\x04\x08\x07\x10\x09"
             "\x22\x0e\x8a\x02\x02\x10\x05\x92\x02\x00\x9a\x02\x00\xa2\x02\x00"
             "\x2a\x00\x4a\x00"s);
  // pids 1, memory 4 (usage 32), io 6, memory events 8
  BOOST_TEST(pack_v2(stats).value ==
             "\x0a\x04\x08\x07\x10\x09"
             "\x22\x03\x80\x02\x05"
             "\x32\x00\x42\x00"s);
}

BOOST_AUTO_TEST_CASE(absent_statistics_are_left_out) {
  const auto v1 = unpack<Metrics__V1>(pack_v1({}));
  BOOST_TEST(v1->cpu == nullptr);
  BOOST_TEST(v1->memory == nullptr);
  BOOST_TEST(v1->pids == nullptr);
  BOOST_TEST(v1->rdma == nullptr);
  const auto v2 = unpack<Metrics__V2>(pack_v2({}));
  BOOST_TEST(v2->cpu == nullptr);
  BOOST_TEST(v2->memory_events == nullptr);
}

BOOST_AUTO_TEST_CASE(a_living_process_has_metrics) {
  const Child child(Child::Lives::kLong);
  const PackedMetrics packed = must(read_metrics(child.pid()));
  if (packed.type_url == "io.containerd.cgroups.v2.Metrics") {
    BOOST_TEST(Received<Metrics__V2>::read(packed.value).has_value());
    return;
  }
  const auto v1 = unpack<Metrics__V1>(packed);
  if (v1->cpu != nullptr) BOOST_TEST(v1->cpu->usage->total > 0U);
  if (v1->memory == nullptr) return;
  BOOST_TEST(v1->memory->usage->usage > 0U);
  BOOST_TEST(v1->memory->usage->limit > 0U);
}

BOOST_AUTO_TEST_CASE(a_process_that_has_ended_has_none) {
  Child child(Child::Lives::kBriefly);
  if (!is_pure_v2(::getpid())) {  // a zombie, which v1 shows in the root cgroup
    const auto of_zombie = read_metrics(child.pid());
    BOOST_REQUIRE(!of_zombie);
    BOOST_TEST(of_zombie.error().number() == ESRCH);
  }
  child.collect();
  const auto of_gone = read_metrics(child.pid());
  BOOST_REQUIRE(!of_gone);
  BOOST_TEST(of_gone.error().number() == ENOENT);
}

BOOST_AUTO_TEST_CASE(a_cgroup_is_found_once_and_read_often) {
  const ProcessCgroup own = must(ProcessCgroup::of(::getpid()));
  BOOST_TEST(!own.nodes().empty());
  BOOST_TEST(!must(own.metrics()).value.empty());
  BOOST_TEST(must(own.metrics()).type_url == must(read_metrics(::getpid())).type_url);
  for (const cgroups::Node& node : own.nodes()) BOOST_TEST(!node.is_open());
}

BOOST_AUTO_TEST_SUITE_END()
