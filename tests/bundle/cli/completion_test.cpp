#include "bundle/cli/completion.hpp"

#include "tests/bundle/cli/walk.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::bundle;
using namespace ocirun::bundle::cli;
using namespace ocirun::test;

namespace {

using Candidates = std::set<std::string>;

bool is_stopped(Status status) { return status == Status::kStopped; }
bool is_any(Status) { return true; }

constexpr std::array kFirstOptions{Option{"root", 0, "DIR", "", Completes::kDirectory},
                                   Option{"format", 0, "text|json", "", Completes::kWords}};
constexpr std::array kTypedOptions{
    Option{"force", 'f', {}, "also one that runs"},
    Option{"net", 0, "pod|host|PATH", "", Completes::kWords},
    Option{"again", 0, "[=always]", "", Completes::kWords},
    Option{"file", 'o', "FILE", "", Completes::kFile},
    Option{"cap", 'c', "CAP", "", Completes::kCapability, Times::kMany},
    Option{"name", 0, "NAME", ""},
};
constexpr Syntax kDelete{
    .name = "delete",
    .operands = "ID [SIGNAL]",
    .summary = "remove",
    .options = kTypedOptions,
    .count = {1, 2},
    .completed_operands = {Operand{Completes::kContainer, is_stopped, "force", is_any},
                           Operand{Completes::kSignal}}};
constexpr Syntax kTypedExec{.name = "exec",
                            .operands = "ID PROGRAM...",
                            .options = kTypedOptions,
                            .count = {1, kAnyNumber},
                            .completed_operands = {Operand{Completes::kContainer}},
                            .placement = OptionPlacement::kUntilOperand};
constexpr Syntax kVolumes{
    .name = "volumes",
    .operands = "[list | remove VOLUME...]",
    .count = {0, kAnyNumber},
    .completed_operands = {Operand{Completes::kWords},
                           Operand{.completes = Completes::kVolume, .times = Times::kMany}}};
constexpr std::array<const Syntax*, 3> kTyped{&kDelete, &kTypedExec, &kVolumes};
constexpr Program kShell{.name = "test", .options = kFirstOptions, .commands = kTyped};

/// "ROOT:any" or "ROOT:stopped" for a container, which tells what was asked for.
std::vector<Candidate> names(const Question& question) {
  if (question.completes == Completes::kVolume)
    return {{fmt::format("v{}", question.arguments.operands().size())}};
  const bool is_wide = question.wanted == nullptr || question.wanted(Status::kRunning);
  return {{fmt::format("{}-{}", question.before.value("root").value_or("default"),
                       is_wide ? "any" : "stopped"),
           "help"}};
}

Candidates offers(const Words& words) { return offered(kShell, words, names); }

}  // namespace

BOOST_AUTO_TEST_SUITE(completion)

BOOST_AUTO_TEST_CASE(commands_and_the_options_before_them) {
  BOOST_TEST((offers({""}) == Candidates{"delete", "exec", "volumes"}));
  BOOST_TEST((offers({"--root", "x", "e"}) == Candidates{"exec"}));
  BOOST_TEST((offers({"--f"}) == Candidates{"--format"}));
  BOOST_TEST((offers({"-"}) == Candidates{"--root", "--format", "--help", "-h"}));
  BOOST_TEST((offers({"--root="}) == Candidates{":directories"}));
  BOOST_TEST((offers({"--format=t"}) == Candidates{"--format=text"}));
  BOOST_TEST((offers({"--format", ""}) == Candidates{"text", "json"}));
  BOOST_TEST(completion_text(kShell, names, Words{"d"}) == "delete\tremove\n");
  BOOST_TEST(completion_text(kShell, names, Words{}).empty());
}

BOOST_AUTO_TEST_CASE(values_of_options) {
  BOOST_TEST((offers({"delete", "--net", ""}) == Candidates{"pod", "host", ":files"}));
  BOOST_TEST((offers({"delete", "--net=h"}) == Candidates{"--net=host", ":files"}));
  BOOST_TEST((offers({"delete", "--again="}) == Candidates{"--again=always"}));
  BOOST_TEST((offers({"delete", "-o", ""}) == Candidates{":files"}));
  BOOST_TEST((offers({"delete", "-c=CAP_CHOW"}) == Candidates{"-c=CAP_CHOWN"}));
  BOOST_TEST(offers({"delete", "--name", ""}).empty());
  BOOST_TEST(offers({"delete", "--nosuch="}).empty());
}

BOOST_AUTO_TEST_CASE(operands_by_what_stands_before_them) {
  BOOST_TEST((offers({"delete", ""}) == Candidates{"default-stopped"}));
  BOOST_TEST((offers({"--root=/r", "delete", "-f", ""}) == Candidates{"/r-any"}));
  BOOST_TEST((offers({"delete", "--force=false", ""}) == Candidates{"default-stopped"}));
  BOOST_TEST((offers({"delete", "web", "SIGTE"}) == Candidates{"SIGTERM"}));
  BOOST_TEST(offers({"delete", "web", "TERM", "x"}).empty());
  BOOST_TEST(offers({"exec", "web", ""}).empty());
  BOOST_TEST(offers({"exec", "web", "-"}).empty());
  BOOST_TEST((offers({"volumes", ""}) == Candidates{"list", "remove"}));
  BOOST_TEST((offers({"volumes", "remove", "a", "v"}) == Candidates{"v2"}));
}

BOOST_AUTO_TEST_CASE(mistakes_in_the_line_are_passed_over) {
  BOOST_TEST((offers({"--nosuch", "delete", "--nosuch", "--force=maybe", ""}) ==
              Candidates{"default-stopped"}));
  BOOST_TEST(offers({"nosuch", ""}).empty());
  BOOST_TEST((offers({"delete", "--", "-"}).empty()));
}

BOOST_AUTO_TEST_SUITE_END()
