#include <boost/test/unit_test.hpp>
#include <string>

#include "cgroups/hierarchies/unit_names.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;

namespace {

constexpr auto kSystem = SystemdInstance::kSystem, kUser = SystemdInstance::kUser;

ScopeName scope(const char* path, SystemdInstance instance = kSystem) {
  const auto name = name_scope(path, "web", instance);
  BOOST_REQUIRE_MESSAGE(name, (name ? "" : name.error().message()));
  return *name;
}

std::string refusal(const char* path) {
  const auto name = name_scope(path, "web", kSystem);
  return name ? "" : name.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(systemd_names)

BOOST_AUTO_TEST_CASE(three_parts_name_the_slice_and_the_scope)
{
  BOOST_TEST((scope("machine.slice:libpod:abc") == ScopeName{"machine.slice", "libpod-abc.scope"}));
  BOOST_TEST((scope("a-b.slice::abc") == ScopeName{"a-b.slice", "abc.scope"}));
  BOOST_TEST((scope("-:x:y") == ScopeName{"-.slice", "x-y.scope"}));
}

BOOST_AUTO_TEST_CASE(an_empty_slice_is_the_one_of_the_instance)
{
  BOOST_TEST(scope(":x:y").slice == "system.slice");
  BOOST_TEST(scope(":x:y", kUser).slice == "user.slice");
}

BOOST_AUTO_TEST_CASE(an_absent_path_gives_a_scope_with_the_id)
{
  const auto absent = name_scope(std::nullopt, "a+b", kSystem);
  BOOST_REQUIRE(absent);
  BOOST_TEST((*absent == ScopeName{"system.slice", "ocirun-a\\x2bb.scope"}));
  BOOST_TEST((scope("", kUser) == ScopeName{"user.slice", "ocirun-web.scope"}));
}

BOOST_AUTO_TEST_CASE(another_shape_is_refused_with_the_field)
{
  for (const char* path : {"/a/b", "a", "a.slice:b", "a.slice:b:", "a.slice:b:c:d"}) {
    BOOST_TEST(refusal(path).contains("/linux/cgroupsPath"), path);
    BOOST_TEST(refusal(path).contains("slice:prefix:name"), path);
  }
}

BOOST_AUTO_TEST_CASE(what_systemd_takes_for_no_name_is_refused)
{
  for (const char* path : {"a.slice/b:x:y", "a--b.slice:x:y", "-a.slice:x:y", "a-.slice:x:y",
                           ".slice:x:y", "a:x:y", "../a.slice:x:y", "a.slice:x/../y:z",
                           "a.slice:x:y z", "a.slice:x:y/../../z", "a.slice:.:x"})
    BOOST_TEST(refusal(path).contains("/linux/cgroupsPath"), path);
  const std::string long_name = "a.slice:x:" + std::string(256, 'y');
  BOOST_TEST(refusal(long_name.c_str()).contains("at most 255"));
}

BOOST_AUTO_TEST_CASE(a_nested_slice_lies_in_those_that_it_names)
{
  const auto path = [](const char* slice) { return expand_slice(slice).value_or("refused"); };
  BOOST_TEST(path("system.slice") == "/system.slice");
  BOOST_TEST(path("a-b.slice") == "/a.slice/a-b.slice");
  BOOST_TEST(path("a-b-c.slice") == "/a.slice/a-b.slice/a-b-c.slice");
  BOOST_TEST(path("-.slice") == "");
  BOOST_TEST(path("a--b.slice") == "refused");
  BOOST_TEST(path("a-b.scope") == "refused");
}

BOOST_AUTO_TEST_CASE(any_text_becomes_one_part_of_a_slices_name)
{
  BOOST_TEST(escape_slice_part("web_1.x:y") == "web_1.x:y");
  BOOST_TEST(escape_slice_part("a-b") == "a\\x2db");
  BOOST_TEST(escape_slice_part("a b/c@\\") == "a\\x20b\\x2fc\\x40\\x5c");
  BOOST_TEST(expand_slice(fmt::format("up-{}.slice", escape_slice_part("a-b"))).value_or("") ==
             "/up.slice/up-a\\x2db.slice");
}

BOOST_AUTO_TEST_CASE(only_a_slice_with_a_name_is_one_that_can_be_started)
{
  for (const char* good : {"a.slice", "a-b.slice", "a\\x2db.slice"})
    BOOST_TEST(is_slice_name(good), good);
  for (const char* bad : {"-.slice", ".slice", "a--b.slice", "a.scope", "a/b.slice", "a\nb.slice"})
    BOOST_TEST(!is_slice_name(bad), bad);
}

BOOST_AUTO_TEST_SUITE_END()
