#include "linux/base/timeline.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <string>

#include "linux/process/clone.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
using timeline::Entry;
using timeline::Kind;

namespace {

std::vector<Entry> entries_of(const std::function<void()>& work) {
  must(timeline::begin());
  work();
  return timeline::entries();
}

void in_clone(const std::function<void()>& work) {
  const Child child = must(clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    work();
    ::_exit(0);
  }
  ::waitpid(child.pid, nullptr, 0);
}

std::ptrdiff_t count(const std::vector<Entry>& list, std::string_view name) {
  return std::ranges::count(list, name,
                            [](const Entry& entry) { return std::string_view(entry.name); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(timelines)

BOOST_AUTO_TEST_CASE(without_a_timeline_nothing_is_kept) {
  timeline::step("a");
  {
    const timeline::Wait wait("b");
  }
  BOOST_TEST(timeline::entries().empty());
  BOOST_TEST(timeline::lost() == 0);
}

OCIRUN_CHILD_TEST(a_step_ends_where_the_next_begins, 0) {
  const auto list = entries_of([] {
    timeline::step("a", "file");
    timeline::step("b");
    timeline::end_step();
  });
  BOOST_REQUIRE(list.size() == 2);
  BOOST_TEST(std::string(list[0].name) == "a");
  BOOST_TEST(std::string(list[0].object) == "file");
  BOOST_TEST(std::string(list[0].lane) == "ocirun");
  BOOST_TEST(list[0].begin > 0);
  BOOST_TEST(list[0].end >= list[0].begin);
  BOOST_TEST(list[1].begin >= list[0].end);
  BOOST_TEST(list[1].end >= list[1].begin);
}

OCIRUN_CHILD_TEST(a_short_call_has_no_entry_and_a_short_wait_has_one, 0) {
  const auto list = entries_of([] {
    // A busy machine may hold some of the calls up.
    for (int i = 0; i < 100; ++i) const timeline::Call call("short");
    {
      const timeline::Call call("long");
      ::usleep(200);
    }
    timeline::Wait wait("wait");
    wait.set_object("for it");
  });
  BOOST_TEST(count(list, "short") < 100);
  BOOST_TEST(count(list, "long") == 1);
  BOOST_TEST(count(list, "wait") == 1);
  BOOST_TEST(std::string(list.back().object) == "for it");
}

OCIRUN_CHILD_TEST(a_clone_writes_to_the_same_timeline_in_its_own_lane, 0) {
  const auto list = entries_of([] {
    timeline::step("parent's");
    const timeline::Wait copied("copied");  // the clone must not write it a second time
    in_clone([] {
      {
        const timeline::Wait unnamed("of no lane");
      }
      timeline::name_lane("init");
      timeline::step("child's");
      timeline::end_step();
    });
    timeline::end_step();
  });
  BOOST_TEST(count(list, "copied") == 1);
  BOOST_TEST(count(list, "of no lane") == 0);
  const auto childs = std::ranges::find(list, std::string("init"),
                                        [](const Entry& entry) { return std::string(entry.lane); });
  BOOST_REQUIRE(childs != list.end());
  BOOST_TEST(std::string(childs->name) == "child's");
  BOOST_TEST(childs->end > childs->begin);
  BOOST_TEST(list[0].end >= childs->end);  // the clone has not ended its parent's step
}

OCIRUN_CHILD_TEST(who_leaves_makes_no_entries_and_keeps_the_last_step_open, 0) {
  must(timeline::begin());
  in_clone([] {
    timeline::name_lane("init");
    timeline::step("first");
    timeline::leave("last");
    timeline::step("too late");
    const timeline::Wait wait("too late");
  });
  const auto list = timeline::entries();
  const auto find = [&](std::string_view name) {
    return *std::ranges::find(list, name,
                              [](const Entry& entry) { return std::string_view(entry.name); });
  };
  BOOST_REQUIRE(count(list, "first") == 1);
  BOOST_REQUIRE(count(list, "last") == 1);
  BOOST_TEST(count(list, "too late") == 0);
  BOOST_TEST(find("first").end != Entry::kOpen);
  BOOST_TEST(find("last").end == Entry::kOpen);
}

OCIRUN_CHILD_TEST(long_texts_are_cut_and_too_many_entries_are_counted, 0) {
  must(timeline::begin());
  const std::string longer(1000, 'x');
  for (int i = 0; i < 10'000; ++i) const timeline::Wait wait("w", longer);
  BOOST_TEST(timeline::entries().size() == 8192);
  BOOST_TEST(timeline::lost() == 10'000 - 8192);
  BOOST_TEST(std::string(timeline::entries()[0].object) ==
             longer.substr(0, sizeof(Entry::object) - 1));
}

BOOST_AUTO_TEST_SUITE_END()
