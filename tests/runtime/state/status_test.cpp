#include "runtime/state/status.hpp"

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

using Names = std::set<std::string_view>;

}  // namespace

BOOST_AUTO_TEST_SUITE(status)

BOOST_AUTO_TEST_CASE(the_words_are_those_of_the_specification_and_of_its_clients) {
  Names names;
  for (const Status status : kAll) names.insert(status_name(status));
  BOOST_TEST((names == Names{"creating", "created", "running", "paused", "stopped", "unknown"}));
}

BOOST_AUTO_TEST_CASE(each_operation_is_allowed_in_its_statuses_alone) {  // OP-3, OP-4, OP-5
  BOOST_TEST((allowed(can_start) == Names{"created"}));
  BOOST_TEST((allowed(can_kill) == Names{"created", "running", "paused"}));
  BOOST_TEST((allowed(can_delete) == Names{"stopped"}));
  BOOST_TEST((allowed(can_exec) == Names{"created", "running"}));
  BOOST_TEST((allowed(can_pause) == Names{"created", "running"}));
  BOOST_TEST((allowed(can_resume) == Names{"paused"}));
}

BOOST_AUTO_TEST_SUITE_END()
