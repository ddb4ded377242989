#include <filesystem>

#include "pods/cli/commands.hpp"
#include "tests/bundle/cli/walk.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods::cli;
using namespace ocirun::test;

namespace {

using Candidates = std::set<std::string>;

Candidates names(const Words& words) { return offered(kProgram, words, names_for); }

void make(const std::string& path) { std::filesystem::create_directories(path); }

}  // namespace

BOOST_AUTO_TEST_SUITE(pod_table)

BOOST_AUTO_TEST_CASE(every_command_takes_the_same_forms_of_each_option) { walk(kProgram); }

BOOST_AUTO_TEST_CASE(names_are_those_of_the_directories_below_data) {
  const Scratch scratch;
  const std::string data = "--data=" + scratch.path();
  for (const char* name : {"web/containers/app", "web/containers/log", "db/containers/app"})
    make(scratch.path() + "/pods/" + name);
  make(scratch.path() + "/volumes/store");
  make(scratch.path() + "/networks/back");
  BOOST_TEST((names({"logs", data, ""}) == Candidates{"db", "web"}));
  BOOST_TEST((names({"logs", "--data", scratch.path(), "w"}) == Candidates{"web"}));
  BOOST_TEST((names({"stop", data, "web", ""}) == Candidates{"db"}));
  BOOST_TEST((names({"logs", data, "web", "-c", ""}) == Candidates{"app", "log"}));
  BOOST_TEST((names({"exec", data, "-c", ""}) == Candidates{"app", "log"}));
  BOOST_TEST((names({"exec", data, "-c", "log", ""}) == Candidates{"web"}));
  BOOST_TEST((names({"exec", data, "web", ""}).empty()));
  BOOST_TEST((names({"kill", data, "web", "TER"}) == Candidates{"TERM"}));
  BOOST_TEST((names({"cp", data, "we"}) == Candidates{"web:", ":files"}));
  BOOST_TEST((names({"cp", data, "web:/x", "--container="}) ==
              Candidates{"--container=app", "--container=log"}));
  BOOST_TEST((names({"volumes", data, ""}) == Candidates{"list", "prune", "remove"}));
  BOOST_TEST((names({"volumes", data, "remove", ""}) == Candidates{"store"}));
  BOOST_TEST((names({"volumes", data, "list", ""}).empty()));
  BOOST_TEST((names({"run", data, "--volume", ""}) == Candidates{"store"}));
  BOOST_TEST((names({"run", data, "--network="}) == Candidates{"--network=back"}));
}

BOOST_AUTO_TEST_CASE(nothing_else_is_offered_and_nothing_is_made) {
  const Scratch scratch;
  const std::string data = "--data=" + scratch.path();
  BOOST_TEST(names({"logs", data, ""}).empty());
  BOOST_TEST(names({"run", data, "--network", ""}).empty());
  BOOST_TEST(std::filesystem::is_empty(scratch.path()));
  for (const char* name :
       {"$(touch x)", "a b", "a;b", "\x1b[2J", "a\nb", "-x", ".hidden.12", "`x`"})
    make(scratch.path() + "/pods/" + name);
  make(scratch.path() + "/elsewhere/containers/secret");
  std::filesystem::create_directory_symlink("../elsewhere", scratch.path() + "/pods/link");
  BOOST_TEST(names({"logs", data, ""}).empty());
  BOOST_TEST(names({"logs", data, "../elsewhere", "-c", ""}).empty());
  BOOST_TEST(names({"nosuch", data, ""}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
