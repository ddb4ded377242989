#include "criu/compare/thread.hpp"

#include <linux/capability.h>

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

constexpr std::string_view kStatus =
    "Name:\tsh\nUid:\t5\t5\t5\t5\nGid:\t6\t6\t6\t6\nGroups:\t9 8 \nCapInh:\t0000000000000000\n"
    "CapPrm:\t0000000000000420\nCapEff:\t0000000000000400\nCapBnd:\t0000000000000420\n"
    "CapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n";

bundle::Config thread_document() {
  bundle::Config config;
  bundle::Process& process = config.process.emplace();
  process.user.uid = must(Uid::make(5));
  process.user.gid = must(Gid::make(6));
  process.user.additional_gids = {must(Gid::make(8)), must(Gid::make(9))};
  process.no_new_privileges = true;
  const auto bits = linux::CapabilitySet::from_bits(0x420);
  process.capabilities = linux::CapabilitySets{
      .bounding = bits, .effective = bits, .inheritable = {}, .permitted = bits, .ambient = {}};
  config.seccomp.emplace();
  return config;
}

std::string thread_refusal(const ThreadStatus& thread) {
  const auto compared = compare_thread(thread, thread_document());
  return compared ? "" : compared.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compare_thread_of_container)

BOOST_AUTO_TEST_CASE(a_thread_that_the_document_allows_passes) {
  BOOST_TEST(thread_refusal(must(parse_thread_status(kStatus))) == "");
}

BOOST_AUTO_TEST_CASE(each_difference_is_named) {
  const ThreadStatus good = must(parse_thread_status(kStatus));
  ThreadStatus thread = good;
  thread.capabilities.bounding.add(CAP_SYS_ADMIN);
  BOOST_TEST(thread_refusal(thread).contains("CAP_SYS_ADMIN in its bounding set"));
  thread = good;
  thread.capabilities.ambient.add(CAP_CHOWN);
  BOOST_TEST(thread_refusal(thread).contains("CAP_CHOWN in its ambient set"));
  thread = good;
  thread.seccomp_mode = 0;
  BOOST_TEST(thread_refusal(thread).contains("has no seccomp filter"));
  thread = good;
  thread.no_new_privileges = false;
  BOOST_TEST(thread_refusal(thread).contains("lacks no_new_privs"));
  thread = good;
  thread.uids[1] = 0;
  BOOST_TEST(thread_refusal(thread).contains("has user ids 5,0,5,5"));
  thread = good;
  thread.gids[3] = 0;
  BOOST_TEST(thread_refusal(thread).contains("has group ids 6,6,6,0"));
  thread = good;
  thread.groups = {8, 9, 0};
  BOOST_TEST(thread_refusal(thread).contains("has the supplementary groups [0,8,9]"));
  thread.groups.clear();
  BOOST_TEST(thread_refusal(thread).contains("has the supplementary groups []"));
}

BOOST_AUTO_TEST_CASE(with_setgid_a_thread_may_have_any_groups) {
  bundle::Config config = thread_document();
  for (linux::CapabilitySet* set :
       {&config.process->capabilities->bounding, &config.process->capabilities->permitted})
    set->add(CAP_SETGID);
  ThreadStatus thread = must(parse_thread_status(kStatus));
  thread.groups = {0};
  thread.gids = {0, 0, 0, 0};
  BOOST_TEST(compare_thread(thread, config).has_value());
}

BOOST_AUTO_TEST_CASE(a_thread_that_may_change_its_ids_may_have_any) {
  bundle::Config config = thread_document();
  config.process->no_new_privileges = false;  // a set-user-ID program may have run
  ThreadStatus thread = must(parse_thread_status(kStatus));
  thread.uids = {0, 0, 0, 0};
  BOOST_TEST(compare_thread(thread, config).has_value());
}

BOOST_AUTO_TEST_CASE(a_status_without_a_field_is_an_error) {
  BOOST_TEST(!parse_thread_status(""));
  BOOST_TEST(!parse_thread_status(kStatus.substr(0, kStatus.find("Seccomp"))));
  BOOST_TEST(!parse_thread_status(kStatus.substr(kStatus.find("Gid"))));
}

BOOST_AUTO_TEST_SUITE_END()
