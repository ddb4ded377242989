#include "linux/base/error.hpp"

#include <cctype>
#include <cerrno>
#include <memory>

#include "tests/child_test.hpp"

using namespace ocirun;

BOOST_AUTO_TEST_SUITE(error)

BOOST_AUTO_TEST_CASE(frames_are_told_outermost_first_and_the_kernels_reason_last) {
  Error error(ENOENT, "open /srv/x");
  error.within("mount /data").within("create web1");
  BOOST_TEST(error.message() == "create web1: mount /data: open /srv/x: no such file or directory");
  BOOST_TEST(error.number() == ENOENT);
  BOOST_TEST(error.frames().size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_path_is_named_once) {
  Error error(EACCES, "make directory");
  error.within("/new dir")
      .within("/new")
      .within("open /new")
      .within("mount /new")
      .within("/mounts/7");
  BOOST_TEST(error.message() ==
             "/mounts/7: mount /new: open: /new dir: make directory: permission denied");
}

BOOST_AUTO_TEST_CASE(a_broken_rule_has_no_errno_and_no_kernel_text) {
  const Result<void> refused = refuse("{}: must be {}", "/root/path", "absolute");
  BOOST_TEST(refused.error().number() == 0);
  BOOST_TEST(refused.error().message() == "/root/path: must be absolute");
}

// podman greps "permission denied", Docker is case-sensitive about it.
BOOST_AUTO_TEST_CASE(the_texts_that_engines_match_are_in_lower_case) {
  BOOST_TEST(errno_text(EACCES) == "permission denied");
  BOOST_TEST(errno_text(EPERM) == "operation not permitted");
  BOOST_TEST(errno_text(ENOENT) == "no such file or directory");
  BOOST_TEST(errno_text(ENOTDIR) == "not a directory");
  BOOST_TEST(errno_text(ESRCH) == "no such process");
}

BOOST_AUTO_TEST_CASE(every_errno_has_a_text_without_a_capital_at_its_beginning) {
  for (int number = 0; number < 200; ++number) {
    const std::string text = errno_text(number);
    BOOST_TEST(!text.empty());
    BOOST_TEST(!std::isupper(static_cast<unsigned char>(text[0])));
  }
  BOOST_TEST(errno_text(-7).find("-7") != std::string::npos);
  BOOST_TEST(errno_text(99999).find("99999") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(braces_in_what_is_quoted_are_not_read_as_a_format) {
  const std::string hostile = "{}{0}{:d}%s%n";
  const Result<void> failed = fail(EINVAL, "open {}", hostile);
  BOOST_TEST(failed.error().frames().front() == "open {}{0}{:d}%s%n");
}

BOOST_AUTO_TEST_CASE(within_leaves_a_success_alone) {
  const auto number = within(Result<int>(7), "never told");
  BOOST_TEST(*number == 7);
  const auto failed = within(Result<int>(fail(EIO, "read")), "state.json");
  BOOST_TEST(failed.error().message() == "state.json: read: input/output error");
}

namespace {

Result<void> count_and_fail(int& calls) {
  ++calls;
  return fail(EBUSY, "step");
}

Result<int> two_steps(int& calls) {
  OCIRUN_TRY(count_and_fail(calls));
  ++calls;
  return calls;
}

Result<std::unique_ptr<int>> make_number(bool works) {
  if (!works) return refuse("no number");
  return std::make_unique<int>(5);
}

// OCIRUN_TRY_ASSIGN twice in one scope: each use has a temporary of its own.
Result<int> add_numbers(bool works) {
  OCIRUN_TRY_ASSIGN(const std::unique_ptr<int> first, make_number(true));
  OCIRUN_TRY_ASSIGN(const auto second, make_number(works));
  return *first + *second;
}

}  // namespace

BOOST_AUTO_TEST_CASE(try_ends_the_function_at_the_first_error_and_evaluates_once) {
  int calls = 0;
  BOOST_TEST(two_steps(calls).error().number() == EBUSY);
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(try_assign_moves_values_that_cannot_be_copied) {
  BOOST_TEST(add_numbers(true).value() == 10);
  BOOST_TEST(add_numbers(false).error().message() == "no number");
}

BOOST_AUTO_TEST_SUITE_END()
