#include "pods/prepare/files.hpp"

#include <sys/stat.h>

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(files_of_a_pod)

BOOST_AUTO_TEST_CASE(config_files_have_the_value_or_the_parameter) {  // OAM-16
  const Scratch scratch;
  Container container;
  container.config_files = {
      {.path = "/etc/one", .value = "first", .parameter = {}, .place = nullptr},
      {.path = "/etc/two", .value = "unused", .parameter = "p", .place = nullptr}};
  Given given;
  given.bindings.parameters = {{"p", ""}};
  const UniqueFd directory = scratch.open();
  const auto bound = must(write_config_files(container, given, directory, scratch.path()));
  BOOST_REQUIRE(bound.size() == 2u);
  BOOST_TEST(slurp(bound[0].source) == "first");
  BOOST_TEST(slurp(bound[1].source) == "");
  BOOST_TEST(bound[0].destination == "/etc/one");
  BOOST_TEST((bound[0].read_only && bound[1].read_only));
  BOOST_TEST(mode_of(bound[0].source) == 0644);    // whatever user the program has
  BOOST_TEST(mode_of(scratch / "files") == 0700);  // but nobody else on the host
}

BOOST_AUTO_TEST_CASE(config_files_of_one_content_are_one_file) {
  const Scratch scratch;
  Container container;
  for (int i = 0; i < 100; ++i)
    container.config_files.push_back(
        {.path = fmt::format("/etc/{}", i), .value = {}, .parameter = "p", .place = nullptr});
  Given given;
  given.bindings.parameters = {{"p", "value"}};
  const UniqueFd directory = scratch.open();
  const auto bound = must(write_config_files(container, given, directory, scratch.path()));
  BOOST_REQUIRE(bound.size() == 100U);
  BOOST_TEST(slurp(bound[99].source) == "value");
  BOOST_TEST(bound[99].source == bound[0].source);
  BOOST_TEST(bound[99].destination == "/etc/99");
}

BOOST_AUTO_TEST_CASE(a_container_without_config_files_gets_no_directory) {
  const Scratch scratch;
  const UniqueFd directory = scratch.open();
  BOOST_TEST(must(write_config_files({}, {}, directory, scratch.path())).empty());
  BOOST_TEST(scratch.names().empty());
}

BOOST_AUTO_TEST_SUITE_END()
