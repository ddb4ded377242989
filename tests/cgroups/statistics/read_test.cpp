#include "cgroups/statistics/read.hpp"

#include <filesystem>
#include <fstream>

#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

namespace {

/// A directory with made-up cgroup files, for kernels that show files which the kernel of this
/// machine lacks.
class Files {
 public:
  Files() {
    std::string name = "/tmp/ocirun-stats-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp");
    path_ = name;
  }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;
  ~Files() { std::filesystem::remove_all(path_); }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ + "/" + file) << text;
  }
  Directory open() const { return must(Directory::open(path_)); }

 private:
  std::string path_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(read_stats)

BOOST_AUTO_TEST_CASE(pressure_is_read_in_hundredths) {
  const Files files;
  files.write("cpu.pressure",
              "some avg10=1.05 avg60=0.00 avg300=100.00 total=77\n"
              "full avg10=0.10 avg60=0.00 avg300=0.00 total=5\n");
  const auto pressure = read_pressure(files.open(), "cpu.pressure");
  BOOST_REQUIRE(pressure.has_value());
  BOOST_TEST(pressure->some.avg10 == 105U);
  BOOST_TEST(pressure->some.avg300 == 10000U);
  BOOST_TEST(pressure->some.total_us == 77U);
  BOOST_TEST(pressure->full.avg10 == 10U);
  BOOST_TEST(!read_pressure(files.open(), "io.pressure").has_value());
}

BOOST_AUTO_TEST_CASE(lists_of_cpus_are_expanded) {
  const Files files;
  files.write("cpuset.cpus", "0-2,7\n");
  files.write("cpuset.mems", "\n");
  files.write("wrong", "0-x\n");
  const std::vector<std::uint16_t> cpus = {0, 1, 2, 7};
  BOOST_TEST(read_number_list(files.open(), "cpuset.cpus") == cpus);
  BOOST_TEST(read_number_list(files.open(), "cpuset.mems").empty());
  BOOST_TEST(read_number_list(files.open(), "wrong").empty());
}

BOOST_AUTO_TEST_CASE(rdma_is_read_by_device) {
  const Files files;
  files.write("rdma.current", "mlx4_0 hca_handle=2 hca_object=20\n");
  files.write("rdma.max",
              "mlx4_0 hca_handle=5 hca_object=max\nocrdma1 hca_handle=max hca_object=1\n");
  const auto rdma = read_rdma(files.open());
  BOOST_REQUIRE(rdma.size() == 2U);
  BOOST_TEST(rdma.at("mlx4_0").handles == 2U);
  BOOST_TEST(rdma.at("mlx4_0").handle_limit == 5U);
  BOOST_TEST(rdma.at("mlx4_0").object_limit == 0xFFFFFFFFU);
  BOOST_TEST(rdma.at("ocrdma1").objects == 0U);
}

BOOST_AUTO_TEST_CASE(v2_tells_swap_from_memory) {
  const Files files;
  files.write("memory.current", "100\n");
  files.write("memory.max", "max\n");
  files.write("memory.swap.current", "20\n");
  files.write("memory.swap.peak", "30\n");
  files.write("memory.swap.max", "40\n");
  files.write("memory.events", "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n");
  Stats stats;
  read_stats_v2(files.open(), stats);
  BOOST_REQUIRE(stats.memory.has_value());
  BOOST_TEST(stats.memory->swap.value().usage == 120U);
  BOOST_TEST(is_unlimited(stats.memory->swap.value().limit));
  BOOST_TEST(stats.memory->swap_alone.value().usage == 20U);
  BOOST_TEST(stats.memory->swap_alone.value().max_usage == 30U);
  BOOST_TEST(stats.memory->swap_alone.value().limit == 40U);
  BOOST_TEST(stats.memory->oom_kills == 5U);
  BOOST_TEST(stats.memory->events.at("oom_group_kill") == 6U);
}

BOOST_AUTO_TEST_CASE(v2_counts_bursts_and_limits_huge_pages) {
  const Files files;
  files.write("cpu.stat", "usage_usec 9\nuser_usec 5\nsystem_usec 4\nnr_bursts 2\nburst_usec 7\n");
  files.write("hugetlb.2MB.current", "4194304\n");
  files.write("hugetlb.2MB.max", "8388608\n");
  Stats stats;
  read_stats_v2(files.open(), stats);
  BOOST_TEST(stats.cpu.value().bursts == 2U);
  BOOST_TEST(stats.cpu.value().burst_ns == 7000U);
  BOOST_TEST(stats.hugetlb.at("2MB").usage == 4194304U);
  BOOST_TEST(stats.hugetlb.at("2MB").limit == 8388608U);
}

BOOST_AUTO_TEST_SUITE_END()
