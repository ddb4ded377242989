#include "bundle/config/landlock.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using ocirun::bundle::landlock_rules;
using ocirun::test::must;

namespace {

std::string refused(const char* name, const char* value) {
  const auto rules = landlock_rules({{std::string("org.ocirun.landlock.") + name, value}});
  return rules ? "" : rules.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(landlock_annotations)

BOOST_AUTO_TEST_CASE(each_annotation_restricts_its_own) {
  BOOST_TEST(!must(landlock_rules({{"org.ocirun.other", "x"}, {"org.ocirun.landlocked", "x"}})));
  const auto rules = must(landlock_rules({{"org.ocirun.landlock.read", "/usr:/etc/a b"},
                                          {"org.ocirun.landlock.connect", ""},
                                          {"org.ocirun.landlock.bind", "0,65535"},
                                          {"org.ocirun.landlock.scope", "sockets,signals"}}));
  BOOST_REQUIRE(rules.has_value());
  BOOST_TEST(rules->readable.value() == (std::vector<std::string>{"/usr", "/etc/a b"}),
             boost::test_tools::per_element());
  BOOST_TEST(!rules->writable);
  BOOST_TEST(rules->connects.value().empty());
  BOOST_TEST(rules->binds.value() == (std::vector<std::uint16_t>{0, 65535}),
             boost::test_tools::per_element());
  BOOST_TEST(rules->scopes_signals);
  BOOST_TEST(rules->scopes_sockets);
}

BOOST_AUTO_TEST_CASE(an_empty_list_of_paths_allows_none) {
  const auto rules = must(landlock_rules({{"org.ocirun.landlock.write", ""}}));
  BOOST_REQUIRE(rules.has_value());
  BOOST_TEST(rules->writable.value().empty());
  BOOST_TEST(rules->restricts_files());
}

BOOST_AUTO_TEST_CASE(a_path_that_the_program_could_replace_is_refused) {
  for (const char* read : {"/data/cache", "/usr:/data/a/b"}) {
    const auto rules = landlock_rules(
        {{"org.ocirun.landlock.read", read}, {"org.ocirun.landlock.write", "/data/"}});
    BOOST_REQUIRE(!rules);
    BOOST_TEST(rules.error().message().contains("lies below \"/data/\""));
  }
  BOOST_TEST(refused("write", "/data:/.//data/./cache").contains("lies below"));
  BOOST_TEST(refused("write", "/data:/data/cache").contains("lies below \"/data\""));
  BOOST_TEST(refused("write", "/:/etc").contains("lies below \"/\""));
  BOOST_TEST(refused("write", "/data:/database:/data") == "");
}

BOOST_AUTO_TEST_CASE(errors_name_the_annotation_and_what_is_allowed) {
  BOOST_TEST(refused("read", "/usr:etc") ==
             "/annotations/org.ocirun.landlock.read: \"etc\": must be absolute paths, separated by "
             "colons");
  for (const char* ports : {"-1", "65536", "8o", "80:81"})
    BOOST_TEST(refused("bind", ports).contains("must be ports from 0 to 65535"), ports);
  for (const char* scope : {"", "signal", "signals:sockets"})
    BOOST_TEST(refused("scope", scope).contains("must be signals, sockets or both"), scope);
  BOOST_TEST(refused("paths", "/").contains("is no annotation of ocirun"));
}

BOOST_AUTO_TEST_SUITE_END()
