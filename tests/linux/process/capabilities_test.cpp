#include "linux/process/capabilities.hpp"

#include <linux/capability.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <fstream>
#include <string>

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

// A line of /proc/self/status, "CapEff:\t000001ffffffffff" or "Groups:\t1 2 ".
std::string status_line(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return line.substr(key.size() + 2);
  return {};
}

CapabilitySet status_set(const std::string& key) {
  return CapabilitySet::from_bits(std::stoull(status_line(key), nullptr, 16));
}

CapabilitySets status_sets() {
  return {.bounding = status_set("CapBnd"),
          .effective = status_set("CapEff"),
          .inheritable = status_set("CapInh"),
          .permitted = status_set("CapPrm"),
          .ambient = status_set("CapAmb")};
}

CapabilitySet set_of(std::initializer_list<unsigned> capabilities) {
  CapabilitySet set;
  for (const unsigned capability : capabilities) set.add(capability);
  return set;
}

template <typename Id>
Id id(std::uint64_t value) {
  return must(Id::make(value));
}

void become(std::uint64_t uid, const CapabilitySets& sets) {
  must(drop_bounding_set(sets.bounding));
  must(set_groups({}));
  must(become_user(id<Uid>(uid), id<Gid>(uid)));
  must(set_capabilities(sets));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(capabilities)

BOOST_AUTO_TEST_CASE(names_and_numbers_are_those_of_libcap)  // F-6
{
  BOOST_TEST(capability_names().size() == CAP_LAST_CAP + 1);
  for (unsigned number = 0; number <= CAP_LAST_CAP; ++number) {
    char* theirs = ::cap_to_name(static_cast<cap_value_t>(number));
    std::string upper = theirs;
    ::cap_free(theirs);
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    BOOST_TEST(capability_name(number) == upper);
    BOOST_TEST((capability_number(upper) == number));
  }
}

BOOST_AUTO_TEST_CASE(a_name_is_exact)  // P-10
{
  for (const char* name : {"", "CAP_", "NET_ADMIN", "cap_net_admin", "CAP_NET_ADMIN ", "CAP_NOPE"})
    BOOST_TEST(!capability_number(name), name);
}

OCIRUN_CHILD_TEST(what_is_grantable_is_what_the_process_has, 0) {
  const GrantableCapabilities grantable =
      must(grantable_capabilities(CapabilitySet::from_bits(~std::uint64_t{0})));
  BOOST_TEST((grantable.bounding == status_set("CapBnd")));
  BOOST_TEST((grantable.permitted == status_set("CapPrm")));
  const CapabilitySet one = set_of({CAP_KILL});
  BOOST_TEST((must(grantable_capabilities(one)).bounding == one));
}

BOOST_AUTO_TEST_CASE(ungrantable_capabilities_of_all_sets_are_one_sentence_that_names_them)  // P-10
{
  const auto wanted = set_of({CAP_KILL, CAP_SYS_RESOURCE});
  const CapabilitySets all_five{.bounding = wanted,
                                .effective = wanted,
                                .inheritable = wanted,
                                .permitted = wanted,
                                .ambient = wanted};
  const GrantableCapabilities grantable{.bounding = set_of({CAP_KILL, CAP_CHOWN}),
                                        .permitted = set_of({CAP_KILL, CAP_CHOWN})};
  const CapabilitySet kill = set_of({CAP_KILL});
  BOOST_TEST((limit_to_grantable(all_five, grantable) == CapabilitySets{.bounding = kill,
                                                                        .effective = kill,
                                                                        .inheritable = kill,
                                                                        .permitted = kill,
                                                                        .ambient = kill}));
  const UngrantedCapabilities lost = find_ungranted(all_five, grantable);
  const std::vector<std::string> sentences = describe_ungranted(lost);
  BOOST_REQUIRE(sentences.size() == 1);
  BOOST_TEST(sentences[0] ==
             "/process/capabilities: CAP_SYS_RESOURCE not granted: missing among the runtime's own "
             "capabilities");
  BOOST_TEST(describe_ungranted(lost, lost).empty());
}

BOOST_AUTO_TEST_CASE(what_was_told_of_an_earlier_process_is_left_out)  // P-10
{
  const GrantableCapabilities none;
  const UngrantedCapabilities told = find_ungranted({.bounding = set_of({CAP_SYS_RESOURCE})}, none);
  const UngrantedCapabilities lost =
      find_ungranted({.bounding = set_of({CAP_SYS_RESOURCE, CAP_SYS_TIME})}, none);
  const std::vector<std::string> sentences = describe_ungranted(lost, told);
  BOOST_REQUIRE(sentences.size() == 1);
  BOOST_TEST(sentences[0].starts_with("/process/capabilities: CAP_SYS_TIME not granted"));
}

BOOST_AUTO_TEST_CASE(sets_that_contradict_each_other_are_told_by_the_set_that_loses)  // P-12
{
  const CapabilitySet kill = set_of({CAP_KILL});
  const GrantableCapabilities all{.bounding = kill, .permitted = kill};
  const auto first_sentence = [&](const CapabilitySets& wanted) {
    const auto sentences = describe_ungranted(find_ungranted(wanted, all));
    return sentences.size() == 1 ? sentences[0] : "not one sentence";
  };
  const CapabilitySets not_inheritable{
      .bounding = kill, .effective = kill, .permitted = kill, .ambient = kill};
  BOOST_TEST(limit_to_grantable(not_inheritable, all).ambient.empty());
  BOOST_TEST(
      first_sentence(not_inheritable).starts_with("/process/capabilities/ambient: CAP_KILL"));
  BOOST_TEST(first_sentence({.bounding = kill, .effective = kill})
                 .starts_with("/process/capabilities/effective: CAP_KILL"));
  BOOST_TEST(first_sentence({.inheritable = kill})
                 .starts_with("/process/capabilities/inheritable: CAP_KILL"));

  const CapabilitySets complete{
      .bounding = kill, .effective = kill, .inheritable = kill, .permitted = kill, .ambient = kill};
  BOOST_TEST((limit_to_grantable(complete, all) == complete));
  BOOST_TEST(describe_ungranted(find_ungranted(complete, all)).empty());
}

OCIRUN_CHILD_TEST(dropping_the_bounding_set_leaves_exactly_what_is_kept, 0) {
  const CapabilitySet keep = set_of({CAP_CHOWN, CAP_SETPCAP, CAP_BPF});
  must(drop_bounding_set(keep));
  BOOST_TEST((status_set("CapBnd") == keep));
  for (unsigned number = 0; number <= CAP_LAST_CAP; ++number)
    BOOST_TEST(::cap_get_bound(static_cast<cap_value_t>(number)) == (keep.has(number) ? 1 : 0));
  must(drop_bounding_set({}));
  BOOST_TEST(status_set("CapBnd").empty());
}

OCIRUN_CHILD_TEST(dropping_needs_cap_setpcap_and_says_so, 0) {
  must(set_capabilities({}));
  BOOST_TEST(must_fail(drop_bounding_set({})) ==
             "drop CAP_CHOWN from the bounding set (needs CAP_SETPCAP): operation not permitted");
}

// Each of the five sets alone, with what the kernel wants it to lie in, and what the other four
// are then: as the user's uid and as root.
BOOST_AUTO_TEST_CASE(each_of_the_five_sets_is_exact_for_user_and_root, *needs_root())  // P-10, P-11
{
  const CapabilitySet none;
  const CapabilitySet chown = set_of({CAP_CHOWN});
  const CapabilitySet kill = set_of({CAP_KILL});
  const CapabilitySet two = set_of({CAP_CHOWN, CAP_KILL});
  const CapabilitySets table[] = {
      {.bounding = none,
       .effective = none,
       .inheritable = none,
       .permitted = none,
       .ambient = none},
      {.bounding = two, .effective = none, .inheritable = none, .permitted = none, .ambient = none},
      {.bounding = none, .effective = none, .inheritable = none, .permitted = two, .ambient = none},
      {.bounding = none, .effective = kill, .inheritable = none, .permitted = two, .ambient = none},
      {.bounding = two,
       .effective = none,
       .inheritable = chown,
       .permitted = none,
       .ambient = none},
      {.bounding = two, .effective = chown, .inheritable = two, .permitted = two, .ambient = kill},
  };
  for (const unsigned uid : {0U, 1000U})
    for (const CapabilitySets& sets : table)
      BOOST_TEST(run_in_child(0, [&] {
                   become(uid, sets);
                   BOOST_TEST((status_sets() == sets));
                   BOOST_TEST(::getuid() == uid);
                 }) == 0);
}

OCIRUN_CHILD_TEST(ids_and_groups_are_exact_and_inherited_groups_are_gone, 0)  // P-21
{
  const Gid more[] = {id<Gid>(7), id<Gid>(4000000000)};
  must(set_groups(more));
  must(become_user(id<Uid>(1001), id<Gid>(1002)));
  BOOST_TEST(status_line("Uid") == "1001\t1001\t1001\t1001");
  BOOST_TEST(status_line("Gid") == "1002\t1002\t1002\t1002");
  BOOST_TEST(status_line("Groups") == "7 4000000000 ");
  BOOST_TEST(::prctl(PR_GET_KEEPCAPS) == 0);
}

OCIRUN_CHILD_TEST(an_empty_list_clears_the_groups, 0)  // P-21
{
  const Gid before[] = {id<Gid>(7)};
  must(set_groups(before));
  must(set_groups({}));
  BOOST_TEST(status_line("Groups").find_first_not_of(' ') == std::string::npos);
}

OCIRUN_CHILD_TEST(an_unmapped_user_is_refused_with_its_field, CLONE_NEWUSER)  // P-19
{
  BOOST_TEST(must_fail(become_user(id<Uid>(70000), {})) ==
             "/process/user/uid: become user 70000 (not mapped by /linux/uidMappings): invalid"
             " argument");
  const std::string group = must_fail(become_user({}, id<Gid>(70000)));
  BOOST_TEST(group.starts_with("/process/user/gid: become group 70000"));
}

OCIRUN_CHILD_TEST(an_unprivileged_change_of_user_is_refused, 0) {
  become(1000, {});
  BOOST_TEST(must_fail(become_user({}, {})).find("not permitted") != std::string::npos);
  BOOST_TEST(::getuid() == 1000U);
}

BOOST_AUTO_TEST_SUITE_END()
