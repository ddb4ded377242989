#include "cgroups/plan/device_rules.hpp"

#include <boost/test/unit_test.hpp>

using namespace ocirun;
using namespace ocirun::cgroups;

namespace {

DeviceRule rule(bool allow, char type, std::optional<std::int64_t> major,
                std::optional<std::int64_t> minor, std::string_view access) {
  return {.allow = allow,
          .type = type,
          .major = major,
          .minor = minor,
          .read = access.contains('r'),
          .write = access.contains('w'),
          .mknod = access.contains('m')};
}
const DeviceRule kDenyAll = rule(false, 'a', {}, {}, "rwm");
const DeviceRule kAllowAll = rule(true, 'a', {}, {}, "rwm");

std::vector<std::string> lines(std::vector<DeviceRule> rules) {
  const Result<std::vector<Write>> writes = plan_device_rules_v1(rules);
  if (!writes) return {"error: " + writes.error().message()};
  std::vector<std::string> text;
  for (const Write& write : *writes)
    text.push_back(write.file.substr(sizeof "devices" - 1) + " " + write.value);
  return text;
}
using Lines = std::vector<std::string>;

const Lines kDefaults = {".deny a",           ".allow c *:* m",   ".allow b *:* m",
                         ".allow c 1:3 rwm",  ".allow c 1:5 rwm", ".allow c 1:7 rwm",
                         ".allow c 1:8 rwm",  ".allow c 1:9 rwm", ".allow c 5:0 rwm",
                         ".allow c 5:1 rwm",  ".allow c 5:2 rwm", ".allow c 10:200 rwm",
                         ".allow c 136:* rwm"};

bool has(const Lines& all, const std::string& line) {
  return std::ranges::find(all, line) != all.end();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(device_rules)

BOOST_AUTO_TEST_CASE(an_empty_list_leaves_the_default_devices)  // L-27 L-28
{
  BOOST_CHECK(lines({}) == kDefaults);
  BOOST_CHECK(lines({kDenyAll}) == kDefaults);
}

BOOST_AUTO_TEST_CASE(the_default_devices_cannot_be_denied)  // L-27
{
  const Lines all = lines({kDenyAll, rule(false, 'c', 1, 3, "rwm")});
  BOOST_TEST(has(all, ".allow c 1:3 rwm"));
}

BOOST_AUTO_TEST_CASE(rules_are_written_after_the_denial)
{
  const Lines all = lines({kDenyAll, rule(true, 'c', 10, 229, "rwm"), rule(true, 'b', 8, {}, "r")});
  BOOST_TEST(all[0] == ".deny a");
  BOOST_TEST(all[1] == ".allow c 10:229 rwm");
  BOOST_TEST(all[2] == ".allow b 8:* r");
}

BOOST_AUTO_TEST_CASE(everything_may_be_allowed) {
  BOOST_CHECK(lines({kAllowAll}) == Lines{".allow a"});
  BOOST_CHECK(lines({kDenyAll, rule(true, 'c', 10, 229, "rwm"), kAllowAll}) == Lines{".allow a"});
}

BOOST_AUTO_TEST_CASE(exceptions_from_everything_are_denials)
{
  // mknod is always allowed, a node alone gives no access.
  BOOST_CHECK(lines({kAllowAll, rule(false, 'b', 8, 0, "rwm")}) ==
              (Lines{".allow a", ".deny b 8:0 rw"}));
}

BOOST_AUTO_TEST_CASE(the_last_rule_of_a_device_decides)
{
  const Lines taken = lines({rule(true, 'c', 10, 229, "rwm"), rule(false, 'c', 10, 229, "w")});
  BOOST_TEST(has(taken, ".allow c 10:229 rm"));
  const Lines given = lines({rule(false, 'c', 10, 229, "rwm"), rule(true, 'c', 10, 229, "w")});
  BOOST_TEST(has(given, ".allow c 10:229 w"));
  const Lines wider = lines({rule(true, 'c', 10, 229, "rwm"), rule(false, 'c', 10, {}, "rwm")});
  BOOST_CHECK(wider == kDefaults);
  BOOST_CHECK(lines({kAllowAll, rule(true, 'c', 10, 229, "r"), kDenyAll}) == kDefaults);
}

BOOST_AUTO_TEST_CASE(an_all_rule_with_numbers_is_not_taken_for_everything)
{
  // The kernel would read "a 8:0 r" as "everything".
  const Lines all = lines({rule(true, 'a', 8, 0, "r")});
  BOOST_TEST(all[0] == ".deny a");
  BOOST_TEST(all[1] == ".allow c 8:0 r");
  BOOST_TEST(all[2] == ".allow b 8:0 r");
  BOOST_TEST(lines({rule(true, 'a', {}, {}, "r")})[1] ==
             ".allow c *:* rm");  // with mknod of anything
}

BOOST_AUTO_TEST_CASE(negative_numbers_mean_any)  // as engines rely on
{
  BOOST_TEST(lines({rule(true, 'c', 42, -1, "rmw")})[1] == ".allow c 42:* rwm");
}

BOOST_AUTO_TEST_CASE(what_v1_cannot_say_is_refused)
{
  const Lines hole = lines({rule(true, 'c', 10, {}, "rwm"), rule(false, 'c', 10, 229, "rwm")});
  BOOST_REQUIRE(hole.size() == 1u);
  BOOST_TEST(hole[0].starts_with("error: /linux/resources/devices: cgroup v1 cannot deny"));
  BOOST_TEST(hole[0].contains("\"c 10:229 rwm\""));
  BOOST_TEST(hole[0].contains("\"c 10:* rwm\""));
}

BOOST_AUTO_TEST_SUITE_END()
