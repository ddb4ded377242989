#include "criu/compare/limits.hpp"

#include <linux/capability.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

bundle::Config document() {
  bundle::Config config;
  config.process.emplace().capabilities.emplace();
  return config;
}

bundle::Config& give(bundle::Config& config, unsigned capability) {
  config.process->capabilities->bounding.add(capability);
  return config;
}

// What is said of this process.
std::string limits_refusal(const bundle::Config& config) {
  const auto procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  const auto compared = compare_limits(config, procfs, ::getpid());
  return compared ? "" : compared.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compare_limits_of_processes)

BOOST_AUTO_TEST_CASE(a_hard_limit_is_at_most_that_of_the_document) {
  rlimit now{};
  BOOST_REQUIRE(::getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_max > 1);
  bundle::Config config = document();
  BOOST_TEST(limits_refusal(config) == "");
  config.process->rlimits = {{.resource = RLIMIT_NOFILE, .soft = 1, .hard = now.rlim_max}};
  BOOST_TEST(limits_refusal(config) == "");
  config.process->rlimits[0].hard = now.rlim_max - 1;
  BOOST_TEST(limits_refusal(config) ==
             fmt::format("has a hard limit RLIMIT_NOFILE of {}: /process/rlimits/0 gives {}",
                         now.rlim_max, now.rlim_max - 1));
  BOOST_TEST(limits_refusal(give(config, CAP_SYS_RESOURCE)) == "");
  must(config.namespaces.add({.kind = linux::NamespaceKind::kUser, .path = std::nullopt}));
  BOOST_TEST(limits_refusal(config) != "");  // root of a user namespace cannot raise it
}

BOOST_AUTO_TEST_CASE(an_oom_score_is_not_below_that_of_the_document) {
  bundle::Config config = document();
  config.process->oom_score_adj = -1000;
  BOOST_TEST(limits_refusal(config) == "");
  config.process->oom_score_adj = 1001;
  BOOST_TEST(limits_refusal(config).find("/process/oomScoreAdj is 1001") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(real_time_needs_the_document) {
  constexpr std::uint32_t kOther = 0, kFifo = 1, kRoundRobin = 2, kDeadline = 6;
  bundle::Config config = document();
  config.process->rlimits = {{.resource = RLIMIT_RTPRIO, .soft = 0, .hard = 0}};
  for (const std::uint32_t policy : {kOther, kFifo, kRoundRobin, kDeadline})
    BOOST_TEST(highest_priority(config, policy) == 0U);
  config.process->scheduler.emplace().policy = kFifo;
  config.process->scheduler->priority = 3;
  BOOST_TEST(highest_priority(config, kFifo) == 3U);
  BOOST_TEST(highest_priority(config, kRoundRobin) == 0U);
  config.process->rlimits[0].hard = 7;
  BOOST_TEST(highest_priority(config, kRoundRobin) == 7U);
  BOOST_TEST(highest_priority(config, kDeadline) == 0U);  // a limit does not allow deadlines
  BOOST_TEST(highest_priority(give(config, CAP_SYS_NICE), kDeadline) == 99U);
}

BOOST_AUTO_TEST_CASE(a_nice_value_is_not_below_what_the_document_allows) {
  bundle::Config config = document();
  config.process->rlimits = {{.resource = RLIMIT_NICE, .soft = 0, .hard = 0}};
  BOOST_REQUIRE(::getpriority(PRIO_PROCESS, 0) >= 0);
  BOOST_TEST(lowest_nice(config) == 0);
  config.process->scheduler.emplace().nice = -3;
  BOOST_TEST(lowest_nice(config) == -3);
  config.process->rlimits[0].hard = 25;
  BOOST_TEST(lowest_nice(config) == -5);
  BOOST_TEST(lowest_nice(give(config, CAP_SYS_NICE)) == -20);
}

BOOST_AUTO_TEST_SUITE_END()
