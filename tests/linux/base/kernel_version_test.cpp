#include "linux/base/syscalls.hpp"

#include <boost/test/unit_test.hpp>
#include <string_view>

using namespace ocirun::linux;

namespace {

bool is(std::string_view release, int major, int minor) {
  return parse_kernel_release(release) == KernelVersion{.major = major, .minor = minor};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_version_of_release)

BOOST_AUTO_TEST_CASE(releases_of_distributions_are_read) {
  BOOST_TEST(is("6.1.0-28-amd64", 6, 1));
  BOOST_TEST(is("6.18.3", 6, 18));
  BOOST_TEST(is("7.0-rc1", 7, 0));
  for (const std::string_view text : {"", "6", "6.", "x.1", "-"}) BOOST_TEST(is(text, 0, 0));
}

BOOST_AUTO_TEST_CASE(versions_are_compared_by_number) {
  BOOST_TEST((parse_kernel_release("6.9.1") < KernelVersion{.major = 6, .minor = 15}));
  BOOST_TEST((parse_kernel_release("6.15.0") >= KernelVersion{.major = 6, .minor = 15}));
  BOOST_TEST((parse_kernel_release("5.19") < KernelVersion{.major = 6, .minor = 1}));
}

BOOST_AUTO_TEST_CASE(the_running_kernel_has_a_version) {
  BOOST_TEST((kernel_version() >= KernelVersion{.major = 4, .minor = 0}));
}

BOOST_AUTO_TEST_SUITE_END()
