#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "cgroups/systemd/limits.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;

namespace {

constexpr auto kV1 = CgroupVersion::kV1, kV2 = CgroupVersion::kV2;
constexpr std::uint64_t kPeriod = 50'000;
const std::string kInfinity = "18446744073709551615";

Host host_with(Home home) {
  return {.home = [home](std::string_view) { return home; },
          .has_v1 = home == Home::kV1,
          .has_unified = true,
          .current = [](const std::string&) { return std::string(); }};
}

using Properties = std::map<std::string, std::string>;  // name, "signature value value"

Properties properties_of(const Resources& resources, CgroupVersion version) {
  const auto writes = plan(resources, host_with(version == kV1 ? Home::kV1 : Home::kUnified));
  BOOST_REQUIRE_MESSAGE(writes, (writes ? "" : writes.error().message()));
  Properties properties;
  for (const UnitProperty& property : limit_properties(*writes, version, kPeriod)) {
    std::string text = property.signature;
    for (const std::string& value : property.values) text += " " + value;
    BOOST_TEST(properties.emplace(property.name, text).second, property.name);
  }
  return properties;
}

void check_limits(const Properties& found, const Properties& expected) {
  for (const auto& [name, value] : expected) {
    const auto entry = found.find(name);
    BOOST_TEST((entry == found.end() ? "absent" : entry->second) == value, name);
  }
  BOOST_TEST(found.size() == expected.size());
}

Resources everything() {
  Resources resources;
  resources.memory.emplace();
  resources.memory->limit = 1 << 20;
  resources.memory->reservation = 1 << 19;
  resources.memory->swap = 3 << 20;
  resources.cpu.emplace();
  resources.cpu->shares = 1024;
  resources.cpu->quota = 12'345;
  resources.cpu->period = 100'000;
  resources.cpu->cpus = "0-1,9";
  resources.cpu->mems = "0";
  resources.pids_limit = 7;
  resources.block_io.emplace();
  resources.block_io->weight = 10;
  resources.block_io->read_bps.push_back({8, 0, 1000});
  resources.block_io->read_bps.push_back({8, 16, 0});
  resources.block_io->write_iops.push_back({8, 0, 5});
  return resources;
}

std::string device_refusal(const DeviceRule& rule) {
  const DeviceRule all{true, 'a', {}, {}, true, true, true};
  const std::vector<DeviceRule> rules = rule.allow ? std::vector{rule} : std::vector{all, rule};
  const auto properties = device_properties(rules);
  return properties ? "" : properties.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(systemd_limits)

BOOST_AUTO_TEST_CASE(every_limit_of_v2_has_its_property)
{
  check_limits(properties_of(everything(), kV2),
               {{"MemoryMax", "t 1048576"},
                {"MemoryLow", "t 524288"},
                {"MemorySwapMax", "t 2097152"},
                {"CPUWeight", "t 100"},
                {"CPUQuotaPerSecUSec", "t 130000"},  // 12.345 percent, rounded up to whole ones
                {"CPUQuotaPeriodUSec", "t 100000"},
                {"AllowedCPUs", "ay 3 2"},
                {"AllowedMemoryNodes", "ay 1"},
                {"TasksMax", "t 7"},
                {"IOWeight", "t 1"},
                {"IOReadBandwidthMax", "a(st) /dev/block/8:0 1000 /dev/block/8:16 " + kInfinity},
                {"IOWriteIOPSMax", "a(st) /dev/block/8:0 5"}});
}

BOOST_AUTO_TEST_CASE(every_limit_of_v1_that_systemd_knows_has_its_property)
{
  check_limits(properties_of(everything(), kV1), {{"MemoryLimit", "t 1048576"},
                                                  {"CPUShares", "t 1024"},
                                                  {"CPUQuotaPerSecUSec", "t 130000"},
                                                  {"CPUQuotaPeriodUSec", "t 100000"},
                                                  {"BlockIOWeight", "t 10"},
                                                  {"TasksMax", "t 7"}});
}

BOOST_AUTO_TEST_CASE(unlimited_is_infinity_and_zero_tasks_are_one)
{
  Resources resources;
  resources.memory.emplace();
  resources.memory->limit = -1;
  resources.cpu.emplace();
  resources.cpu->quota = -1;
  resources.pids_limit = 0;
  check_limits(properties_of(resources, kV2), {{"MemoryMax", "t " + kInfinity},
                                               {"MemorySwapMax", "t " + kInfinity},
                                               {"CPUQuotaPerSecUSec", "t " + kInfinity},
                                               {"CPUQuotaPeriodUSec", "t 100000"},
                                               {"TasksMax", "t 1"}});
  resources.pids_limit = -1;
  BOOST_TEST(properties_of(resources, kV2)["TasksMax"] == "t " + kInfinity);
}

BOOST_AUTO_TEST_CASE(a_quota_alone_is_counted_in_the_period_that_holds)
{
  Resources resources;
  resources.cpu.emplace();
  resources.cpu->quota = 25'000;
  check_limits(properties_of(resources, kV1), {{"CPUQuotaPerSecUSec", "t 500000"}});
}

BOOST_AUTO_TEST_CASE(an_idle_group_is_the_weight_that_systemd_calls_so)
{
  Resources resources;
  resources.cpu.emplace();
  resources.cpu->shares = 1024;
  resources.cpu->idle = 1;
  check_limits(properties_of(resources, kV2), {{"CPUWeight", "t 0"}});
  resources.cpu.emplace();
  resources.cpu->idle = 0;
  check_limits(properties_of(resources, kV2), {{"CPUWeight", "t " + kInfinity}});
}

BOOST_AUTO_TEST_CASE(files_of_unified_have_properties_too)
{
  Resources resources;
  resources.unified = {{"memory.high", "1000"},
                       {"cpu.max", "50000 100000"},
                       {"memory.min", "max"},
                       {"hugetlb.2MB.max", "0"}};
  check_limits(properties_of(resources, kV2), {{"MemoryHigh", "t 1000"},
                                               {"MemoryMin", "t " + kInfinity},
                                               {"CPUQuotaPerSecUSec", "t 500000"},
                                               {"CPUQuotaPeriodUSec", "t 100000"}});
}

BOOST_AUTO_TEST_CASE(devices_of_v1_are_an_allow_list)
{
  const DeviceRule disk{true, 'b', 8, 0, true, false, false};
  const auto properties = device_properties(std::vector{disk});
  BOOST_REQUIRE(properties);
  BOOST_TEST((properties->front() == UnitProperty{"DevicePolicy", "s", {"strict"}, 0}));
  const std::vector<std::string>& values = properties->back().values;
  const auto access = [&](std::string_view name) {
    const auto found = std::ranges::find(values, name);
    return found == values.end() ? std::string("absent") : *(found + 1);
  };
  BOOST_TEST(access("/dev/block/8:0") == "r");
  BOOST_TEST(access("/dev/char/1:3") == "rwm");
  BOOST_TEST(access("char-136") == "rwm");
  BOOST_TEST(access("char-*") == "m");

  const DeviceRule all{true, 'a', {}, {}, true, true, true};
  const auto open = device_properties(std::vector{all});
  BOOST_REQUIRE(open);
  BOOST_TEST((open->front() == UnitProperty{"DevicePolicy", "s", {"auto"}, 0}));
  BOOST_TEST(open->back().values.empty());
}

BOOST_AUTO_TEST_CASE(devices_that_systemd_cannot_say_are_refused_on_v1)
{
  BOOST_TEST(device_refusal({false, 'c', 10, 229, true, true, true}).contains("deny single"));
  BOOST_TEST(device_refusal({true, 'c', std::nullopt, 7, true, true, true}).contains("major"));
}

BOOST_AUTO_TEST_CASE(a_property_survives_its_line)
{
  const UnitProperty property{"Description", "s", {"a b=%\n\"\xff"}, 244};
  const std::string lines = property_lines({property, {"X", "as", {"", "y"}, 0}});
  BOOST_REQUIRE(lines.ends_with("\nend\n"));
  const auto first = parse_property_line(lines.substr(0, lines.find('\n')));
  BOOST_REQUIRE(first);
  BOOST_TEST((*first == property));
  const auto second = parse_property_line("property 0 X as = =y");
  BOOST_REQUIRE(second);
  BOOST_TEST((second->values == std::vector<std::string>{"", "y"}));
}

BOOST_AUTO_TEST_CASE(a_line_that_is_no_property_is_refused)
{
  for (const char* line : {"", "property", "property 0 X", "property x X s =y", "property 0 X v =y",
                           "property 0 X s y", "property 0 X s =%4", "property 0 X s =%zz",
                           "property 0 X s =a\"", "property 0  s =y", "other 0 X s =y"})
    BOOST_TEST(!parse_property_line(line), line);
}

BOOST_AUTO_TEST_SUITE_END()
