#include "linux/confined/confine.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "linux/process/capabilities.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

namespace ocirun::linux {
namespace {

using namespace test;

BOOST_AUTO_TEST_SUITE(privileges)

/// The line of /proc/self/status that begins with `name`, without blanks.
std::string status(const std::string& name) {
  const std::string text = "\n" + slurp("/proc/self/status");
  std::string line = text.substr(text.find("\n" + name + ":") + 1);
  line.resize(line.find('\n'));
  std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
  return line;
}

BOOST_AUTO_TEST_CASE(the_checks_of_this_suite_can_fail) {
  BOOST_TEST(status("CapBnd") != "CapBnd:0000000000000000");
  BOOST_TEST(status("NoNewPrivs") == "NoNewPrivs:0");
}

OCIRUN_CHILD_TEST(a_process_without_privileges_keeps_its_user_and_gets_nothing_back, 0) {
  must(give_up_privileges());
  for (const std::string name : {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"})
    BOOST_TEST(status(name) == name + ":0000000000000000");
  BOOST_TEST(status("NoNewPrivs") == "NoNewPrivs:1");
  BOOST_TEST(::getuid() == 0U);
}

BOOST_AUTO_TEST_CASE(an_empty_root_has_nothing_and_takes_nothing) {
  const Scratch place;
  place.file("hidden", "x");
  BOOST_TEST(run_in_child(CLONE_NEWNS, [&] {
               must(enter_empty_root(place.path()));
               BOOST_TEST(std::filesystem::is_empty("/"));
               BOOST_TEST(std::filesystem::current_path() == "/");
               BOOST_TEST(::mkdir("/x", 0700) == -1);
               BOOST_TEST(errno == EROFS);
             }) == 0);
  BOOST_TEST((place.names() == std::vector<std::string>{"hidden"}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ocirun::linux
