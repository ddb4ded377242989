#include "runtime/state/container.hpp"

#include <array>
#include <set>

#include "tests/child_test.hpp"

using namespace ocirun::runtime;

namespace {

constexpr std::array kAll{Status::kCreating, Status::kCreated, Status::kRunning,
                          Status::kPaused,   Status::kStopped, Status::kUnknown};

std::set<std::string_view> allowed(bool (*rule)(Status)) {
  std::set<std::string_view> names;
  for (const Status status : kAll)
    if (rule(status)) names.insert(status_name(status));
  return names;
}

using StatusNames = std::set<std::string_view>;

}  // namespace

BOOST_AUTO_TEST_SUITE(status)

BOOST_AUTO_TEST_CASE(the_words_are_those_of_the_specification_and_of_its_clients) {
  StatusNames names;
  for (const Status status : kAll) names.insert(status_name(status));
  BOOST_TEST(
      (names == StatusNames{"creating", "created", "running", "paused", "stopped", "unknown"}));
}

BOOST_AUTO_TEST_CASE(each_operation_is_allowed_in_its_statuses_alone) {  // OP-3, OP-4, OP-5
  BOOST_TEST((allowed(can_start) == StatusNames{"created"}));
  BOOST_TEST((allowed(can_kill) == StatusNames{"created", "running", "paused"}));
  BOOST_TEST((allowed(can_delete) == StatusNames{"stopped"}));
  BOOST_TEST((allowed(can_exec) == StatusNames{"created", "running"}));
  BOOST_TEST((allowed(can_pause) == StatusNames{"created", "running"}));
  BOOST_TEST((allowed(can_resume) == StatusNames{"paused"}));
}

BOOST_AUTO_TEST_SUITE_END()
