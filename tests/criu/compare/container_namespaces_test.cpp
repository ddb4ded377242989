#include "criu/compare/container_namespaces.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun;
using namespace ocirun::runtime;

BOOST_AUTO_TEST_SUITE(compare_id_maps)

BOOST_AUTO_TEST_CASE(the_order_of_lines_does_not_matter_and_each_number_does) {
  const linux::IdMap written{.uids = {{5, 100, 1}, {0, 200, 5}}, .gids = {{0, 300, 9}}};
  linux::IdMap read{.uids = {{0, 200, 5}, {5, 100, 1}}, .gids = {{0, 300, 9}}};
  BOOST_TEST(is_same_map(written, read));
  read.gids[0].host_id = 301;
  BOOST_TEST(!is_same_map(written, read));
  read.gids = written.gids;
  read.uids.push_back({6, 0, 1});
  BOOST_TEST(!is_same_map(written, read));
}

BOOST_AUTO_TEST_SUITE_END()
