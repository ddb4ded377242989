#include "linux/process/scheduling.hpp"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

// ioprio_set(2); <linux/ioprio.h> is no C++.
constexpr int kWhoProcess = 1;
constexpr std::uint32_t kRealTime = 1, kBestEffort = 2;

std::string allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::string text;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) text += std::to_string(cpu) + " ";
  return text;
}

Scheduler scheduler(const char* policy) {
  Scheduler wanted;
  wanted.policy = scheduler_policy(policy).value();
  return wanted;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(scheduling)

BOOST_AUTO_TEST_CASE(a_list_of_numbers_is_read_exactly)  // P-18, L-37
{
  const NumberSet set = must(NumberSet::parse(" 0-3, 7 ,64 - 65"));
  for (const std::size_t in : {0UL, 1UL, 2UL, 3UL, 7UL, 64UL, 65UL})
    BOOST_TEST(set.contains(in), in);
  for (const std::size_t out : {4UL, 6UL, 8UL, 63UL, 66UL, 1000000UL})
    BOOST_TEST(!set.contains(out), out);
  BOOST_TEST(set.words().size() == 2U);
  BOOST_TEST(set.words()[0] == 0x8FU);
  BOOST_TEST(set.words()[1] == 3U);
  BOOST_TEST(must(NumberSet::parse("1048575")).contains(1048575));
}

BOOST_AUTO_TEST_CASE(an_empty_list_is_the_empty_set) {
  BOOST_TEST(must(NumberSet::parse("")).empty());
  BOOST_TEST(must(NumberSet::parse("  ")).empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_list_of_numbers_is_refused_with_its_text)  // P-18, L-37
{
  for (const char* text : {",", "1,", ",1", "1,,2", "3-1", "-1", "1-", "1-2-3", "a", "0x1", "1 2",
                           "+1", "1048576", "0-1048576", "99999999999999999999", "1;2", "1\n"}) {
    const auto set = NumberSet::parse(text);
    BOOST_TEST(!set.has_value(), text);
    if (!set) BOOST_TEST(set.error().message().find(text) != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(the_names_are_those_of_the_specification)  // P-15, P-17, L-37
{
  BOOST_TEST(scheduler_policies().size() == 7U);
  BOOST_TEST(scheduler_flags().size() == 7U);
  BOOST_TEST(io_priority_classes().size() == 3U);
  BOOST_TEST(memory_policy_modes().size() == 7U);
  BOOST_TEST(memory_policy_flags().size() == 3U);
  BOOST_TEST((scheduler_policy("SCHED_DEADLINE") == 6U));
  BOOST_TEST((scheduler_flag("SCHED_FLAG_UTIL_CLAMP_MAX") == 0x40U));
  BOOST_TEST((io_priority_class("IOPRIO_CLASS_IDLE") == 3U));
  BOOST_TEST((memory_policy_mode("MPOL_WEIGHTED_INTERLEAVE") == 6));
  BOOST_TEST((memory_policy_flag("MPOL_F_STATIC_NODES") == 0x8000U));
  BOOST_TEST(!scheduler_policy("SCHED_NORMAL"));
  BOOST_TEST(!scheduler_flag("SCHED_RESET_ON_FORK"));
  BOOST_TEST(!io_priority_class("IOPRIO_CLASS_NONE"));
  BOOST_TEST(!memory_policy_mode("MPOL_MAX"));
  BOOST_TEST(!memory_policy_flag("MPOL_F_NODE"));
}

OCIRUN_CHILD_TEST(a_batch_scheduler_with_a_nice_value_is_in_force, 0)  // P-15
{
  Scheduler wanted = scheduler("SCHED_BATCH");
  wanted.nice = 7;
  wanted.flags = scheduler_flag("SCHED_FLAG_RESET_ON_FORK").value();
  must(set_scheduler(wanted));
  BOOST_TEST(::sched_getscheduler(0) == (SCHED_BATCH | SCHED_RESET_ON_FORK));
  BOOST_TEST(::getpriority(PRIO_PROCESS, 0) == 7);
}

OCIRUN_CHILD_TEST(a_scheduler_that_needs_a_capability_says_so, 0) {
  BOOST_REQUIRE(::setresuid(1000, 1000, 1000) == 0);
  Scheduler wanted = scheduler("SCHED_FIFO");
  wanted.priority = 10;
  const std::string message = must_fail(set_scheduler(wanted));
  BOOST_TEST(message.starts_with("set scheduler SCHED_FIFO (needs CAP_SYS_NICE"));
}

OCIRUN_CHILD_TEST(a_policy_that_no_kernel_has_is_an_error, 0)  // P-15
{
  BOOST_TEST(must_fail(set_scheduler(scheduler("SCHED_ISO"))) ==
             "set scheduler SCHED_ISO (no mainline kernel implements it): invalid argument");
}

OCIRUN_CHILD_TEST(an_io_priority_is_in_force, 0)  // P-17
{
  must(set_io_priority({.io_class = kBestEffort, .priority = 6}));
  const long value = ::syscall(SYS_ioprio_get, kWhoProcess, 0);
  BOOST_TEST(value == (long{kBestEffort} << 13 | 6));
}

OCIRUN_CHILD_TEST(an_io_priority_that_needs_a_capability_says_so, 0) {
  BOOST_REQUIRE(::setresuid(1000, 1000, 1000) == 0);
  const std::string message = must_fail(set_io_priority({.io_class = kRealTime, .priority = 0}));
  BOOST_TEST(message ==
             "set I/O priority 0 of class IOPRIO_CLASS_RT (needs CAP_SYS_NICE or"
             " CAP_SYS_ADMIN): operation not permitted");
}

OCIRUN_CHILD_TEST(an_affinity_is_set_and_undone, 0)  // P-18
{
  const std::string before = allowed_cpus();
  must(set_cpu_affinity(must(NumberSet::parse("0"))));
  BOOST_TEST(allowed_cpus() == "0 ");
  must(reset_cpu_affinity());
  BOOST_TEST(allowed_cpus() == before);
}

OCIRUN_CHILD_TEST(the_cpus_of_the_affinity_are_counted, 0) {
  BOOST_TEST(must(count_cpus()) >= 1U);
  must(set_cpu_affinity(must(NumberSet::parse("0"))));
  BOOST_TEST(must(count_cpus()) == 1U);
}

OCIRUN_CHILD_TEST(an_affinity_to_no_cpu_of_the_host_is_refused, 0) {
  const std::string message = must_fail(set_cpu_affinity(must(NumberSet::parse("8000"))));
  BOOST_TEST(message.starts_with("set CPU affinity (none of these CPUs"));
}

OCIRUN_CHILD_TEST(a_personality_changes_what_uname_says, 0)  // L-36
{
  must(set_personality(PER_LINUX32));
  utsname name{};
  ::uname(&name);
#ifdef __x86_64__
  BOOST_TEST(std::string(name.machine) == "i686");
#endif
  must(set_personality(PER_LINUX));
  BOOST_TEST(::personality(0xFFFFFFFF) == PER_LINUX);
}

OCIRUN_CHILD_TEST(a_memory_policy_is_in_force_or_the_kernel_has_none, 0)  // L-37
{
  MemoryPolicy policy;
  policy.mode = memory_policy_mode("MPOL_BIND").value();
  policy.flags = memory_policy_flag("MPOL_F_STATIC_NODES").value();
  policy.nodes = must(NumberSet::parse("0"));
  int mode = -1;
  if (::syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) != 0) {
    BOOST_TEST(must_fail(set_memory_policy(policy)).find("built without NUMA") !=
               std::string::npos);
    return;
  }
  must(set_memory_policy(policy));
  unsigned long nodes[64] = {};
  BOOST_TEST(::syscall(SYS_get_mempolicy, &mode, nodes, sizeof nodes * 8, nullptr, 0) == 0);
  BOOST_TEST(mode == (MPOL_BIND | MPOL_F_STATIC_NODES));
  BOOST_TEST(nodes[0] == 1U);
  must(set_memory_policy({}));
  BOOST_TEST(::syscall(SYS_get_mempolicy, &mode, nullptr, 0, nullptr, 0) == 0);
  BOOST_TEST(mode == MPOL_DEFAULT);
}

OCIRUN_CHILD_TEST(a_memory_policy_for_no_node_of_the_host_is_refused, 0)  // L-37
{
  MemoryPolicy policy;
  policy.mode = memory_policy_mode("MPOL_BIND").value();
  policy.nodes = must(NumberSet::parse("900000"));  // the mask is as long as the list asks
  BOOST_TEST(must_fail(set_memory_policy(policy)).starts_with("set memory policy MPOL_BIND ("));
  policy.nodes = must(NumberSet::parse("63"));
  BOOST_TEST(must_fail(set_memory_policy(policy)).starts_with("set memory policy MPOL_BIND ("));
}

BOOST_AUTO_TEST_SUITE_END()
