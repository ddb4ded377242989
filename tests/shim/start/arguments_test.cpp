#include "shim/start/arguments.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

Result<Arguments> parsed(const std::vector<std::string>& words) { return parse_arguments(words); }

}  // namespace

BOOST_AUTO_TEST_SUITE(shim_arguments)

BOOST_AUTO_TEST_CASE(start_has_the_flags_that_containerd_gives) {
  const auto arguments =
      must(parsed({"-namespace", "k8s.io", "-address", "/run/c.sock", "-publish-binary",
                   "/usr/bin/containerd", "-id", "web_1", "-debug", "start"}));
  BOOST_TEST((arguments.action == Action::kStart));
  BOOST_TEST(arguments.container_namespace == "k8s.io");
  BOOST_TEST(arguments.address == "/run/c.sock");
  BOOST_TEST(arguments.publish_binary == "/usr/bin/containerd");
  BOOST_TEST(arguments.id == "web_1");
  BOOST_TEST(arguments.debug);
}

BOOST_AUTO_TEST_CASE(flags_are_written_in_each_way_of_go) {
  const auto arguments =
      must(parsed({"--namespace=a", "-id=b", "--bundle", "/c=d", "--debug=false", "--", "delete"}));
  BOOST_TEST((arguments.action == Action::kDelete));
  BOOST_TEST(arguments.container_namespace == "a");
  BOOST_TEST(arguments.id == "b");
  BOOST_TEST(arguments.bundle == "/c=d");
  BOOST_TEST(!arguments.debug);
}

BOOST_AUTO_TEST_CASE(questions_need_no_action) {
  BOOST_TEST((must(parsed({"-v"})).action == Action::kVersion));
  BOOST_TEST((must(parsed({"-info"})).action == Action::kInformation));
  BOOST_TEST((must(parsed({"-h"})).action == Action::kHelp));
  BOOST_TEST((must(parsed({"--help"})).action == Action::kHelp));
  BOOST_TEST(help_text().contains("io.containerd.ocirun.v2"));
}

BOOST_AUTO_TEST_CASE(without_an_action_the_error_says_who_starts_the_program) {
  for (const auto& words : {std::vector<std::string>{}, {"-id", "a"}}) {
    const std::string said = must_fail(parsed(words));
    BOOST_TEST(said.starts_with("containerd starts this program"));
    BOOST_TEST(said.contains("io.containerd.ocirun.v2"));
  }
}

BOOST_AUTO_TEST_CASE(wrong_words_are_named) {
  BOOST_TEST(must_fail(parsed({"-ids", "a", "start"})) ==
             "unknown flag -ids: must be one of -namespace, -id, -address, -publish-binary, "
             "-bundle, -debug, -v, -info, -h");
  BOOST_TEST(must_fail(parsed({"-id"})) == "-id: its value is missing");
  BOOST_TEST(must_fail(parsed({"-debug=perhaps", "start"})) ==
             "-debug=perhaps: must be true or false");
  BOOST_TEST(must_fail(parsed({"stop"})) == "unknown action \"stop\": must be start or delete");
  BOOST_TEST(must_fail(parsed({"start", "now"})) == "unexpected word \"now\" behind start");
}

BOOST_AUTO_TEST_CASE(a_name_that_becomes_part_of_a_path_is_checked) {
  for (const std::string id : {"../a", "a/b", ".a", "-a", "a b", "a\n"})
    BOOST_TEST(must_fail(parsed({"-namespace", "n", "-id", id, "start"}))
                   .ends_with("a letter or digit first"));
  BOOST_TEST(!parsed({"-namespace", "n", "-id", std::string(256, 'a'), "start"}));
  BOOST_TEST(!parsed({"-namespace", "..", "-id", "a", "start"}));
  BOOST_TEST(must_fail(parsed({"-id", "a", "start"})).starts_with("-namespace is missing: "));
  BOOST_TEST(must_fail(parsed({"-namespace", "n", "-id", "a", "delete"})) ==
             "-bundle is missing: delete needs the directory of the bundle");
}

BOOST_AUTO_TEST_SUITE_END()
