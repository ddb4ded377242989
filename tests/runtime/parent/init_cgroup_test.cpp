#include "runtime/parent/init_cgroup.hpp"

#include <boost/test/unit_test.hpp>
#include <cerrno>

using namespace ocirun::runtime;

BOOST_AUTO_TEST_SUITE(init_cgroup)

BOOST_AUTO_TEST_CASE(the_unified_line_tells_what_is_below_the_container) {
  BOOST_TEST(path_below("0::/web/app\n", "/web").value_or("none") == "app");
  BOOST_TEST(path_below("0::/a/web/x/y z\n", "/a/web").value_or("none") == "x/y z");
  BOOST_TEST(path_below("4:memory:/web/m\n1:name=systemd:/web/s\n0::/web/app\n", "/web")
                 .value_or("none") == "app");
}

BOOST_AUTO_TEST_CASE(what_is_not_below_the_container_is_nothing) {
  for (const char* text : {"0::/web\n", "0::/web/\n", "0::/webapp/x\n", "0::/other/web/x\n",
                           "0::/\n", "0::/../web/x\n", "4:memory:/web/m\n", "10::/web/x\n", ""})
    BOOST_TEST(!path_below(text, "/web"), text);
}

BOOST_AUTO_TEST_CASE(only_ebusy_and_eopnotsupp_mean_no_room_for_processes) {
  BOOST_TEST(has_no_room_for_processes(EBUSY));
  BOOST_TEST(has_no_room_for_processes(EOPNOTSUPP));
  for (const int other : {0, EPERM, EACCES, ENOENT, EAGAIN, ENODEV})
    BOOST_TEST(!has_no_room_for_processes(other));
}

BOOST_AUTO_TEST_SUITE_END()
