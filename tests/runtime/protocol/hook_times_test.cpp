#include "runtime/protocol/hook_times.hpp"

#include <array>
#include <boost/test/unit_test.hpp>

using namespace ocirun;
using namespace ocirun::runtime;

namespace {

constexpr hooks::Kind kKind = hooks::Kind::kStartContainer;

hooks::Hooks two_hooks() {
  hooks::Hooks hooks;
  hooks.of(kKind).resize(2);
  return hooks;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(times_of_hooks)

BOOST_AUTO_TEST_CASE(what_init_tells_is_what_the_parent_reads) {
  const hooks::HookRun run{.kind = kKind,
                           .index = 0,
                           .started = "2026-01-02T03:04:05Z",
                           .lasted = std::chrono::milliseconds(12)};
  const std::string text = hook_times(std::array{run, run});
  const auto runs = parse_hook_times(text, two_hooks(), kKind);
  BOOST_REQUIRE(runs.size() == 2U);
  BOOST_TEST(runs[1].index == 1U);
  BOOST_TEST(runs[1].started == "2026-01-02T03:04:05Z");
  BOOST_TEST(runs[1].lasted.count() == 12);
}

BOOST_AUTO_TEST_CASE(a_hostile_init_adds_no_hooks_and_no_words) {
  BOOST_TEST(parse_hook_times("1 1\n2 2\n3 3\n", two_hooks(), kKind).size() == 2U);
  BOOST_TEST(parse_hook_times("1 1\n", {}, kKind).empty());
  for (const char* line : {"", " ", "now 1", "2026 -1", "2026", "2026 99999999999999999999",
                           "2026 1 2", "\x1b[2J 1", "2026-01-02T03:04:05.000Z 1"})
    BOOST_TEST(parse_hook_times(line, two_hooks(), kKind).empty(), line);
}

BOOST_AUTO_TEST_SUITE_END()
