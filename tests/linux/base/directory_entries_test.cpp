#include "linux/base/file_io.hpp"

#include <dirent.h>

#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(directory_entries)

BOOST_AUTO_TEST_CASE(each_entry_comes_once_with_its_type_as_often_as_one_asks) {
  const Scratch scratch;
  scratch.file("a", "");
  BOOST_REQUIRE(::mkdir((scratch / "b").c_str(), 0700) == 0);
  const UniqueFd directory(::open(scratch.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string> seen;
    must(for_each_entry(directory, [&](std::string_view name, unsigned char type) -> Result<void> {
      seen.push_back(fmt::format("{}{}", name, type == DT_DIR ? "/" : ""));
      return {};
    }));
    std::ranges::sort(seen);
    BOOST_TEST(seen == (std::vector<std::string>{"a", "b/"}), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(an_error_of_the_visitor_ends_the_walk) {
  const Scratch scratch;
  scratch.file("a", "");
  scratch.file("b", "");
  int visits = 0;
  const auto outcome =
      for_each_entry(scratch.open(), [&](const char*, unsigned char) -> Result<void> {
        ++visits;
        return refuse("enough");
      });
  BOOST_TEST(must_fail(outcome) == "enough");
  BOOST_TEST(visits == 1);
}

BOOST_AUTO_TEST_CASE(what_is_no_directory_is_an_error_and_one_that_is_gone_is_empty) {
  const Scratch scratch;
  const UniqueFd file(::open(scratch.file("a", "").c_str(), O_RDONLY | O_CLOEXEC));
  const auto ignore = [](const char*, unsigned char) -> Result<void> { return {}; };
  BOOST_TEST(must_fail(for_each_entry(file, ignore)).ends_with("not a directory"));
  BOOST_REQUIRE(::mkdir((scratch / "b").c_str(), 0700) == 0);
  const UniqueFd gone(::open((scratch / "b").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  BOOST_REQUIRE(::rmdir((scratch / "b").c_str()) == 0);
  must(for_each_entry(gone, ignore));
}

BOOST_AUTO_TEST_SUITE_END()
