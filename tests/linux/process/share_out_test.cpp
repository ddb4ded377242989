#include "linux/process/share_out.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <set>
#include <vector>

#include "linux/process/scheduling.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(sharing_out)

namespace {

/// How often each of `count` items was worked on, and by which threads.
struct Work {
  explicit Work(std::size_t count) : visits(count) {
    share_out(count, [this](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++visits[i];
      const std::scoped_lock lock(mutex);
      threads.insert(::gettid());
    });
  }
  bool each_item_once() const {
    return std::ranges::all_of(visits, [](const std::atomic<int>& visit) { return visit == 1; });
  }

  std::vector<std::atomic<int>> visits;
  std::set<pid_t> threads;
  std::mutex mutex;
};

}  // namespace

BOOST_AUTO_TEST_CASE(each_item_is_worked_on_once) {
  for (const std::size_t count : {0UL, 1UL, 63UL, 127UL, 128UL, 129UL, 191UL, 1000UL, 5003UL})
    BOOST_TEST(Work(count).each_item_once(), count);
}

BOOST_AUTO_TEST_CASE(few_items_stay_in_the_thread_of_the_caller) {
  BOOST_TEST((Work(2 * kLeastShare - 1).threads == std::set<pid_t>{::gettid()}));
}

BOOST_AUTO_TEST_CASE(many_items_go_to_a_thread_for_each_cpu) {
  const auto most = std::min(must(count_cpus()), std::size_t{8});
  const Work work(64 * kLeastShare);
  BOOST_TEST(work.threads.size() == most);
  BOOST_TEST(work.threads.contains(::gettid()));
}

OCIRUN_CHILD_TEST(without_threads_the_caller_does_all_the_work, 0) {
  const rlimit none{1, 1};
  BOOST_REQUIRE(::setrlimit(RLIMIT_NPROC, &none) == 0);
  BOOST_REQUIRE(::setresuid(4321, 4321, 4321) == 0);  // the limit does not hold for root
  const Work work(1000);
  BOOST_TEST(work.each_item_once());
  BOOST_TEST((work.threads == std::set<pid_t>{::gettid()}));
}

BOOST_AUTO_TEST_CASE(a_share_without_memory_is_worked_on_again_by_the_caller) {
  std::vector<std::atomic<int>> visits(1000);
  std::atomic<int> failures{0}, others{0};
  const pid_t caller = ::gettid();
  share_out(visits.size(), [&](std::size_t begin, std::size_t end) {
    if (visits[begin]++ == 0) {
      ++failures;
      throw std::bad_alloc();
    }
    others += ::gettid() == caller ? 0 : 1;
    for (std::size_t i = begin + 1; i < end; ++i) ++visits[i];
  });
  BOOST_TEST(others == 0);
  // The first item of each share is visited twice.
  BOOST_TEST(std::accumulate(visits.begin(), visits.end(), 0) == 1000 + failures);
  BOOST_TEST(
      std::ranges::none_of(visits, [](const std::atomic<int>& visit) { return visit == 0; }));
}

BOOST_AUTO_TEST_CASE(lasting_shortage_of_memory_is_an_error_after_all_threads_have_ended) {
  std::atomic<int> running{0};
  const auto work = [&](std::size_t, std::size_t) {
    ++running;
    ::usleep(10'000);
    --running;
    throw std::bad_alloc();
  };
  BOOST_CHECK_THROW(share_out(1000, work), std::bad_alloc);
  BOOST_TEST(running == 0);
}

BOOST_AUTO_TEST_SUITE_END()
