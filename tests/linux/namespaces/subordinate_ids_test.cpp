#include "linux/namespaces/subordinate_ids.hpp"

#include "linux/namespaces/namespaces.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

using Ranges = std::vector<IdRange>;
const Account kWorker{.name = "worker", .uid = 1001};

}  // namespace

BOOST_AUTO_TEST_SUITE(subordinate_ids)

BOOST_AUTO_TEST_CASE(a_user_is_known_by_name_or_number_and_has_all_lines) {
  constexpr std::string_view kText =
      "root:1:2\nworker:100000:65536\nworkers:1:1\n1001:300000:10\nworker:400000:1";
  BOOST_TEST((parse_subordinate_ids(kText, kWorker) ==
              Ranges{{100000, 65536}, {300000, 10}, {400000, 1}}));
  BOOST_TEST(parse_subordinate_ids(kText, {.name = "other", .uid = 7}).empty());
}

BOOST_AUTO_TEST_CASE(a_user_without_a_name_does_not_get_lines_without_one) {
  BOOST_TEST(parse_subordinate_ids(":1:2\n", {.name = "", .uid = 7}).empty());
}

BOOST_AUTO_TEST_CASE(lines_that_say_nothing_usable_are_passed_over) {
  for (const char* line :
       {"", "worker", "worker:", "worker:1", "worker:1:", "worker:x:1", "worker:1:0", "worker:-1:5",
        "worker:1:99999999999", "worker:4294967290:6", "worker: 1:5", "# worker:1:5"})
    BOOST_TEST(parse_subordinate_ids(line, kWorker).empty(), line);
  BOOST_TEST((parse_subordinate_ids("worker:4294967290:5", kWorker) == Ranges{{4294967290, 5}}));
}

BOOST_AUTO_TEST_CASE(the_widest_map_has_all_ranges_that_can_be_mapped_together) {
  using Map = std::vector<IdMapping>;
  BOOST_TEST((widest_map(1001, {}) == Map{{0, 1001, 1}}));
  BOOST_TEST((widest_map(1001, {{100000, 10}, {300000, 5}}) ==
              Map{{0, 1001, 1}, {1, 100000, 10}, {11, 300000, 5}}));
  // The own id, an id that is mapped already, from both sides, and the same range again.
  BOOST_TEST((widest_map(1001, {{1000, 2}, {100000, 10}, {100009, 1}, {99990, 11}, {100000, 10}}) ==
              Map{{0, 1001, 1}, {1, 100000, 10}}));
  // Ids end at 4294967294.
  BOOST_TEST((widest_map(7, {{8, 4294967280}, {0, 7}, {4294967290, 4}}) ==
              Map{{0, 7, 1}, {1, 8, 4294967280}, {4294967281, 0, 7}, {4294967288, 4294967290, 4}}));
  BOOST_TEST((widest_map(7, {{8, 4294967286}, {0, 7}, {0, 1}}) ==
              Map{{0, 7, 1}, {1, 8, 4294967286}, {4294967287, 0, 7}}));
  BOOST_TEST(widest_map(0, Ranges(400, {5, 1})).size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_name_is_found_by_its_number_alone) {
  constexpr std::string_view kPasswd =
      "root:x:0:0:root:/root:/bin/sh\nworker:x:1001:1001::/home:/bin/sh\nbroken\n";
  BOOST_TEST(find_user_name(kPasswd, 1001) == "worker");
  BOOST_TEST(find_user_name(kPasswd, 0) == "root");
  BOOST_TEST(find_user_name(kPasswd, 100) == "");
  BOOST_TEST(find_user_name("", 0) == "");
}

BOOST_AUTO_TEST_CASE(a_map_that_nobody_lends_is_explained_by_its_first_line, *needs_root()) {
  BOOST_TEST(run_in_child(0, [] {
               BOOST_REQUIRE(::setuid(54321) == 0);  // whom no file lists
               const std::string text =
                   why_not_mapped(IdKind::kUser, {{0, 54321, 1}, {1, 100000, 65536}}, 54321);
               BOOST_TEST(text.find("host ids 100000 to 165535 are not yours") == 0u);
               BOOST_TEST(text.find("/etc/subuid lends user 54321 no ids") != std::string::npos);
               BOOST_TEST(why_not_mapped(IdKind::kGroup, {{0, 5, 1}}, 54321).find("/etc/subgid") !=
                          std::string::npos);
               BOOST_TEST(
                   (widest_own_map(IdKind::kUser, 54321) == std::vector<IdMapping>{{0, 54321, 1}}));
             }) == 0);
}

BOOST_AUTO_TEST_CASE(the_hosts_root_maps_itself) {
  BOOST_TEST((widest_own_map(IdKind::kUser, 0) == std::vector<IdMapping>{{0, 0, 1}}));
}

BOOST_AUTO_TEST_CASE(a_map_as_the_kernel_prints_it_is_read) {
  const std::vector<IdMapping> expected{{0, 1001, 1}, {1, 100000, 65536}};
  BOOST_TEST(
      (parse_id_map("         0       1001          1\n         1     100000      65536\n") ==
       expected));
  BOOST_TEST(parse_id_map("").empty());
  BOOST_TEST(parse_id_map("0 1").empty());
}

BOOST_AUTO_TEST_CASE(refused_namespaces_are_explained) {
  BOOST_TEST(why_namespaces_are_refused(EINVAL, CLONE_NEWUSER).find("kernel was built without") !=
             std::string::npos);
  BOOST_TEST(why_namespaces_are_refused(ENOMEM, CLONE_NEWUSER) == "");
}

BOOST_AUTO_TEST_CASE(namespaces_that_an_ordinary_user_may_not_make_are_explained, *needs_root()) {
  BOOST_TEST(run_in_child(0, [] {
               BOOST_REQUIRE(::setuid(12345) == 0);
               BOOST_TEST(why_namespaces_are_refused(EPERM, CLONE_NEWNS).find("spec --rootless") !=
                          std::string::npos);
               BOOST_TEST(!why_namespaces_are_refused(EPERM, CLONE_NEWUSER).empty());
             }) == 0);
}

// A user namespace has limits of its own, so the host's stay as they are.
OCIRUN_CHILD_TEST(a_limit_of_zero_is_named, CLONE_NEWUSER | CLONE_NEWNS) {
  const UniqueFd file(::open("/proc/sys/user/max_net_namespaces", O_WRONLY | O_CLOEXEC));
  BOOST_REQUIRE(::write(file.get(), "0", 1) == 1);
  BOOST_TEST(why_namespaces_are_refused(ENOSPC, CLONE_NEWUSER | CLONE_NEWNET)
                 .find("user.max_net_namespaces is 0") != std::string::npos);
  BOOST_TEST(why_namespaces_are_refused(ENOSPC, CLONE_NEWUSER).find("33 deep") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
