#include "linux/base/unique_fd.hpp"

#include <fcntl.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "tests/child_test.hpp"

using namespace ocirun;

namespace {

bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

BOOST_AUTO_TEST_SUITE(unique_fd)

BOOST_AUTO_TEST_CASE(the_descriptor_is_closed_with_its_owner) {
  int number = -1;
  {
    const UniqueFd fd = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = fd.get();
    BOOST_TEST(is_open(number));
  }
  BOOST_TEST(!is_open(number));
}

BOOST_AUTO_TEST_CASE(a_moved_descriptor_has_one_owner) {
  UniqueFd first = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  UniqueFd second = std::move(first);
  BOOST_TEST(first.get() == -1);  // NOLINT(bugprone-use-after-move): what is left is the point
  BOOST_TEST(!first);
  BOOST_TEST(second.get() == number);
  UniqueFd third = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int replaced = third.get();
  third = std::move(second);
  BOOST_TEST(!is_open(replaced));
  BOOST_TEST(third.get() == number);
  BOOST_TEST(is_open(number));
}

BOOST_AUTO_TEST_CASE(assigning_a_descriptor_to_itself_keeps_it) {
  UniqueFd fd = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  UniqueFd& same = fd;
  fd = std::move(same);
  BOOST_TEST(is_open(fd.get()));
}

BOOST_AUTO_TEST_CASE(released_is_not_closed) {
  int number = -1;
  {
    UniqueFd fd = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = fd.release();
    BOOST_TEST(fd.get() == -1);
  }
  BOOST_TEST(is_open(number));
  ::close(number);
}

BOOST_AUTO_TEST_CASE(reset_closes_the_old_one_and_an_empty_owner_closes_nothing) {
  UniqueFd fd = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = fd.get();
  fd.reset();
  BOOST_TEST(!is_open(number));
  fd.reset();  // must not close whatever has the number by now
  const UniqueFd other = UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  {
    const UniqueFd empty;
  }
  BOOST_TEST(is_open(other.get()));
}

BOOST_AUTO_TEST_CASE(descriptor_zero_counts_as_open) {
  const UniqueFd fd(0);
  BOOST_TEST(static_cast<bool>(fd));
  BOOST_TEST(Fd(fd).value == 0);
  [[maybe_unused]] const int kept = const_cast<UniqueFd&>(fd).release();
}

BOOST_AUTO_TEST_CASE(a_growing_vector_of_owners_closes_none_of_them) {
  std::vector<UniqueFd> many;
  for (int i = 0; i < 100; ++i) many.push_back(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  for (const UniqueFd& fd : many) BOOST_TEST(is_open(fd.get()));
  BOOST_TEST((!std::is_copy_constructible_v<UniqueFd>));
  BOOST_TEST((!std::is_convertible_v<int, UniqueFd>));
}

BOOST_AUTO_TEST_SUITE_END()
