// How an error names the owner of a file inside user namespaces.

#include "linux/files/owner_name.hpp"

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(owner_name_of_a_file)

BOOST_AUTO_TEST_CASE(each_id_of_a_host_is_a_user) {
  BOOST_TEST(owner_name(0) == "user 0");
  BOOST_TEST(owner_name(1000) == "user 1000");
}

OCIRUN_CHILD_TEST(the_id_of_unmapped_users_is_called_so, CLONE_NEWUSER) {
  BOOST_TEST(owner_name(0) == "user 0");
  BOOST_TEST(owner_name(65534) == "user 65534, or a user whom this user namespace does not map");
  BOOST_REQUIRE(::unshare(CLONE_NEWUSER) == 0);  // without a map
  BOOST_TEST(owner_name(65534) ==
             "user 65534, which stands for each user whom this user namespace does not map");
}

BOOST_AUTO_TEST_SUITE_END()
