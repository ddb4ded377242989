#include <boost/test/unit_test.hpp>
#include <string>

#include "cgroups/systemd/annotations.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;

namespace {

using Values = std::vector<std::string>;

Result<AnnotatedProperties> read_all(const std::string& name, const std::string& value) {
  return annotated_properties({{"org.systemd.property." + name, value}, {"other", "x"}});
}

Result<std::vector<UnitProperty>> read(const std::string& name, const std::string& value) {
  OCIRUN_TRY_ASSIGN(AnnotatedProperties all, read_all(name, value));
  return std::move(all.properties);
}

void check(const std::string& value, const std::string& signature, const Values& values) {
  const auto read_back = read("Property", value);
  BOOST_REQUIRE_MESSAGE(read_back, value);
  BOOST_REQUIRE(read_back->size() == 1u);
  BOOST_TEST(read_back->front().signature == signature, value);
  BOOST_TEST(read_back->front().values == values, boost::test_tools::per_element());
}

void check_property(const std::string& name, const std::string& value,
                    const UnitProperty& expected) {
  const auto properties = read(name, value);
  BOOST_REQUIRE_MESSAGE(properties, name << " = " << value);
  BOOST_REQUIRE(properties->size() == 1u);
  BOOST_TEST((properties->front() == expected), name << " = " << value);
}

void check_refused(const std::string& name, const std::string& value) {
  const auto refused = read(name, value);
  BOOST_REQUIRE_MESSAGE(!refused, name << " = " << value);
  BOOST_TEST(refused.error().message().contains("/annotations/org.systemd.property." + name));
}

void check_left_out(const std::string& name, const std::string& value) {
  const auto all = read_all(name, value);
  BOOST_REQUIRE_MESSAGE(all, name << " = " << value);
  BOOST_TEST(all->properties.empty());
  BOOST_REQUIRE(all->left_out.size() == 1u);
  BOOST_TEST(all->left_out.front().starts_with("/annotations/org.systemd.property." + name +
                                               ": has no effect: "));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(systemd_annotations)

BOOST_AUTO_TEST_CASE(values_are_read_with_their_types)
{
  check("true", "b", {"true"});
  check("boolean false", "b", {"false"});
  check("'inactive-or-failed'", "s", {"inactive-or-failed"});
  check("\"it's \\\"\"", "s", {"it's \""});
  check("string 'x'", "s", {"x"});
  check("''", "s", {""});
  check("12", "i", {"12"});
  check("-12", "i", {"-12"});
  check("1.5", "d", {"1.5"});
  check("double 2", "d", {"2"});
  check("byte 255", "y", {"255"});
  check(" uint32 7 ", "u", {"7"});
  check("int64 -7", "x", {"-7"});
  check("uint64 18446744073709551615", "t", {"18446744073709551615"});
}

BOOST_AUTO_TEST_CASE(arrays_have_the_type_of_their_elements)
{
  check("['a', 'b']", "as", {"a", "b"});
  check("[ 'a' ]", "as", {"a"});
  check("[uint32 1, 2]", "au", {"1", "2"});
  check("@as []", "as", {});
  check("@au [uint32 1]", "au", {"1"});
}

BOOST_AUTO_TEST_CASE(a_time_in_seconds_becomes_microseconds)
{
  check_property("TimeoutStopSec", "uint64 10", {"TimeoutStopUSec", "t", {"10000000"}, 0});
  check_property("RuntimeMaxSec", "1.5", {"RuntimeMaxUSec", "t", {"1500000"}, 0});
  check_property("TimeoutStopUSec", "uint64 10", {"TimeoutStopUSec", "t", {"10"}, 0});
}

// With systemd's driver, CRI-O 1.37 gives every container these annotations.
BOOST_AUTO_TEST_CASE(the_annotations_of_crio_are_properties)
{
  check_property("DefaultDependencies", "true", {"DefaultDependencies", "b", {"true"}, 0});
  check_property("After", "['crio.service']", {"After", "as", {"crio.service"}, 0});
  check_property("TimeoutStopUSec", "uint64 10000000", {"TimeoutStopUSec", "t", {"10000000"}, 0});
}

BOOST_AUTO_TEST_CASE(a_bad_name_is_refused_with_its_annotation)
{
  for (const char* name : {"", "X", "Memory High", "Memory/High", "1st", "Memory-High"})
    check_refused(name, "true");
  for (const char* name : {"PIDs", "Slice", "Delegate"}) check_refused(name, "true");
}

BOOST_AUTO_TEST_CASE(an_empty_value_is_no_property)
{
  for (const char* name : {"Property", "TimeoutStopSec", "Slice", "Wants", "1st"}) {
    const auto all = read_all(name, "");
    BOOST_REQUIRE_MESSAGE(all, name);
    BOOST_TEST((all->properties.empty() && all->left_out.empty()), name);
  }
}

BOOST_AUTO_TEST_CASE(a_bad_value_is_left_out_with_a_sentence)
{
  for (const char* value : {" ",          "yes",       "'open",     "open'",
                            "uint64",     "uint64 -1", "uint64 x",  "byte 256",
                            "3000000000", "1 2",       "[1, 'a']",  "[1",
                            "[]",         "@zz []",    "@as [1]",   "uint64 18446744073709551616",
                            "--1",        "1.2.3",     "boolean 1", "string 1",
                            "(1, 2)",     "'a' 'b'"})
    check_left_out("Property", value);
  for (const char* value : {"'soon'", "-1", "true", "[1]"}) check_left_out("TimeoutStopSec", value);
}

// Engines copy annotations from images, and an image must not start or stop other units.
BOOST_AUTO_TEST_CASE(what_reaches_beyond_the_unit_is_refused)
{
  for (const char* name : {"Requires",
                           "RequiresOverridable",
                           "RequisiteOverridable",
                           "Wants",
                           "Upholds",
                           "BindsTo",
                           "Conflicts",
                           "OnFailure",
                           "OnSuccess",
                           "PartOf",
                           "PropagatesStopTo",
                           "RequiresMountsFor",
                           "WantsMountsFor",
                           "RequiredBy",
                           "WantedBy",
                           "BoundBy",
                           "UpheldBy",
                           "ConflictedBy",
                           "RequisiteOf",
                           "ConsistsOf",
                           "OnFailureOf",
                           "TriggeredBy",
                           "Triggers",
                           "InSlice"})
    check_refused(name, "['other.service']");
  for (const char* name : {"User", "Group"}) check_refused(name, "'daemon'");
  for (const char* name : {"FailureAction", "JobTimeoutAction"}) check_refused(name, "'reboot'");
  for (const char* name : {"DeviceAllow", "DevicePolicy", "BPFProgram", "IPIngressFilterPath"})
    check_refused(name, "'x'");
  BOOST_TEST(read("After", "['other.service']").has_value());
}

BOOST_AUTO_TEST_SUITE_END()
