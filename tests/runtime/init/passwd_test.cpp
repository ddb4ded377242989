#include "runtime/init/executable.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(passwd)

BOOST_AUTO_TEST_CASE(an_id_is_found_with_all_its_entries_in_their_order, *needs_root()) {
  const Scratch scratch;
  BOOST_REQUIRE(::mkdir((scratch / "etc").c_str(), 0755) == 0);
  scratch.file("etc/passwd",
               "root:x:0:0:root:/root:/bin/sh\n\nshort:x:7\nweb:x:1000:100::/srv/web:/bin/sh\n"
               "again:x:1000:0:,,:relative\nodd:x:1000x:0::/odd:\nbig:x:4294967295:0::/"
               "big:\nlast:x:8:0::/l");
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::chroot(scratch.path().c_str()) == 0);
               const auto web = find_in_passwd(1000);
               BOOST_REQUIRE(web.size() == 2u);
               BOOST_TEST(web[0].name == "web");
               BOOST_TEST(web[0].home == "/srv/web");
               BOOST_TEST(web[1].name == "again");
               BOOST_TEST(web[1].home == "relative");
               BOOST_TEST(find_in_passwd(0).at(0).name == "root");
               BOOST_TEST(find_in_passwd(7).at(0).home.empty());
               BOOST_TEST(find_in_passwd(8).at(0).home == "/l");
               BOOST_TEST(find_in_passwd(9).empty());
               BOOST_TEST(find_in_passwd(4294967295).empty());
               BOOST_REQUIRE(::unlink("/etc/passwd") == 0);
               BOOST_TEST(find_in_passwd(0).empty());
             }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
