// Which lines that a container sends to its NOTIFY_SOCKET may reach the service manager.

#include "runtime/foreground/notifications.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime;

BOOST_AUTO_TEST_SUITE(notifications)

BOOST_AUTO_TEST_CASE(known_lines_pass_in_their_order) {
  BOOST_TEST(forwardable_lines("READY=1\nSTATUS=up and running\n") ==
             "READY=1\nSTATUS=up and running");
  BOOST_TEST(forwardable_lines("RELOADING=1\nMONOTONIC_USEC=18446744073709551615") ==
             "RELOADING=1\nMONOTONIC_USEC=18446744073709551615");
  BOOST_TEST(forwardable_lines("STOPPING=1\nWATCHDOG=1") == "STOPPING=1\nWATCHDOG=1");
  BOOST_TEST(forwardable_lines("STATUS=") == "STATUS=");
}

BOOST_AUTO_TEST_CASE(lines_that_a_container_may_not_send_are_dropped) {
  for (const char* line :
       {"MAINPID=1", "FDSTORE=1", "FDSTOREREMOVE=1", "BARRIER=1", "WATCHDOG=trigger", "READY=0",
        "WATCHDOG_USEC=1", "EXTEND_TIMEOUT_USEC=1", "BUSERROR=x", "ERRNO=2", "READY", "=1", "",
        " READY=1", "ready=1", "READY=1 ", "MONOTONIC_USEC=", "MONOTONIC_USEC=-1",
        "MONOTONIC_USEC=184467440737095516150"})
    BOOST_TEST_CONTEXT(line) {
      BOOST_TEST(forwardable_lines(line) == "");
      BOOST_TEST(forwardable_lines(std::string(line) + "\nREADY=1") == "READY=1");
    }
}

BOOST_AUTO_TEST_CASE(a_status_is_short_and_plain) {
  BOOST_TEST(forwardable_lines("STATUS=" + std::string(512, 'x')).size() == 7U + 512U);
  BOOST_TEST(forwardable_lines("STATUS=" + std::string(513, 'x')) == "");
  for (const char c : {'\0', '\r', '\x1b', '\x7f'})
    BOOST_TEST(forwardable_lines("STATUS=a" + std::string(1, c) + "b") == "");
}

BOOST_AUTO_TEST_CASE(each_variable_passes_once) {
  BOOST_TEST(forwardable_lines("STATUS=a\nREADY=1\nSTATUS=b\nREADY=1") == "STATUS=a\nREADY=1");
}

BOOST_AUTO_TEST_SUITE_END()
