#include "runtime/parent/cgroup_choice.hpp"

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

cgroups::Resources limited() {
  cgroups::Resources resources;
  resources.pids_limit = 50;
  resources.block_io.emplace().weight = std::uint16_t{0};  // unset
  resources.memory.emplace().limit = -1;                   // unlimited
  return resources;
}

GlobalOptions with(Rootless rootless) {
  GlobalOptions options;
  options.rootless = rootless;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(cgroup_choice)

BOOST_AUTO_TEST_CASE(only_fields_that_ask_for_a_limit_are_listed) {
  BOOST_TEST(asked_limits(std::nullopt).empty());
  BOOST_TEST(asked_limits(cgroups::Resources()).empty());
  cgroups::Resources resources = limited();
  const std::vector<std::string> asked = asked_limits(resources);
  BOOST_TEST((std::ranges::find(asked, "/linux/resources/pids/limit") != asked.end()));
  BOOST_TEST((std::ranges::find(asked, "/linux/resources/blockIO/weight") == asked.end()));
  resources.devices.emplace_back();
  BOOST_TEST(asked_limits(resources).back() == "/linux/resources/devices");
}

BOOST_AUTO_TEST_CASE(which_containers_may_run_without_a_cgroup) {
  const Scratch scratch;
  GlobalOptions logged;
  logged.log = scratch / "log";
  const Log log = must(Log::open(logged));
  const auto ask = [&](Rootless rootless, bool any_limit, Obstacle obstacle, int number) {
    return go_without_cgroup(with(rootless), any_limit ? std::optional(limited()) : std::nullopt,
                             obstacle, Error(number, "cause"), log);
  };
  for (const bool any_limit : {false, true}) {
    BOOST_TEST(ask(Rootless::kYes, any_limit, Obstacle::kRefused, EACCES).has_value());
    BOOST_TEST(ask(Rootless::kYes, any_limit, Obstacle::kRefused, EROFS).has_value());
    BOOST_TEST(ask(Rootless::kYes, any_limit, Obstacle::kNoHierarchy, 0).has_value());
    BOOST_TEST(!ask(Rootless::kYes, any_limit, Obstacle::kRefused, ENOSPC).has_value());
    BOOST_TEST(!ask(Rootless::kNo, any_limit, Obstacle::kRefused, EROFS).has_value());
    if (!is_root()) continue;
    BOOST_TEST(!ask(Rootless::kAuto, any_limit, Obstacle::kRefused, EACCES).has_value());
    BOOST_TEST(ask(Rootless::kAuto, any_limit, Obstacle::kRefused, EROFS).has_value() ==
               !any_limit);
    BOOST_TEST(ask(Rootless::kAuto, any_limit, Obstacle::kNoHierarchy, 0).has_value() ==
               !any_limit);
  }
  BOOST_TEST(must_fail(ask(Rootless::kNo, true, Obstacle::kNoHierarchy, 0))
                 .starts_with("/linux/resources/pids/limit: cannot be applied"));
  must(ask(Rootless::kYes, true, Obstacle::kNoHierarchy, 0));
  BOOST_TEST(slurp(scratch / "log").find("have no effect: /linux/resources/pids/limit") !=
             std::string::npos);
  // A shortage of descriptors says nothing about cgroups.
  BOOST_TEST(!ask(Rootless::kYes, false, Obstacle::kNoHierarchy, EMFILE).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
