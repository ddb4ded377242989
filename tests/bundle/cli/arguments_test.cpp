#include "bundle/cli/arguments.hpp"

#include "tests/bundle/cli/walk.hpp"
#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::bundle::cli;
using namespace ocirun::test;

namespace {

constexpr std::array kBefore{Option{"root", 0, "DIR", ""}, Option{"debug", 0, {}, ""}};
constexpr std::array kOptions{
    Option{"bundle", 'b', "DIR", ""},   Option{"force", 'f', {}, ""},
    Option{"no-subreaper", 0, {}, ""},  Option{"env", 'e', "NAME=VALUE", ""},
    Option{"preserve-fds", 0, "N", ""}, Option{"ready", 'r', "[=SECONDS]", ""},
    Option{"quiet", 'q', {}, ""},
};
constexpr Syntax kAnywhere{
    .name = "any", .operands = "ID...", .options = kOptions, .count = {0, kAnyNumber}};
constexpr Syntax kExec{.name = "exec",
                       .operands = "ID [PROGRAM...]",
                       .options = kOptions,
                       .count = {1, kAnyNumber},
                       .placement = OptionPlacement::kUntilOperand};
constexpr Syntax kKill{.name = "kill",
                       .operands = "ID [SIGNAL]",
                       .count = {1, 2},
                       .completed_operands = {Operand{}, Operand{Completes::kSignal}}};
constexpr Syntax kOne{.name = "one", .operands = "FILE", .options = kOptions, .count = {1, 1}};
constexpr std::array<const Syntax*, 4> kCommands{&kAnywhere, &kExec, &kKill, &kOne};
constexpr Program kProgram{.name = "ocirun",
                           .options = kBefore,
                           .commands = kCommands,
                           .empty_value = EmptyValue::kIsNone};

Result<Arguments> parse(const Words& words, const Syntax& syntax = kAnywhere) {
  return bundle::cli::parse(kProgram, syntax, words);
}
std::string error_of(const Words& words) { return must_fail(parse(words)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(command_line)

BOOST_AUTO_TEST_CASE(a_value_may_follow_its_option_or_an_equals_sign) {  // as engines rely on
  for (const Words& words :
       {Words{"--bundle", "/b", "id"}, Words{"--bundle=/b", "id"}, Words{"-b", "/b", "id"},
        Words{"-b=/b", "id"}, Words{"id", "--bundle", "/b"}, Words{"-bundle", "/b", "id"},
        Words{"-bundle=/b", "id"}}) {
    const Arguments arguments = must(parse(words));
    BOOST_TEST(arguments.value("bundle").value_or("") == "/b");
    BOOST_TEST(arguments.operands() == Words{"id"}, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_value_is_taken_as_it_is_and_an_empty_one_is_none) {
  BOOST_TEST(must(parse({"--bundle", "--force"})).value("bundle").value_or("none") == "--force");
  BOOST_TEST(must(parse({"--bundle", "-"})).value("bundle").value_or("none") == "-");
  BOOST_TEST(must(parse({"--bundle", "--"})).value("bundle").value_or("none") == "--");
  BOOST_TEST(must(parse({"--bundle=a=b=c"})).value("bundle").value_or("none") == "a=b=c");
  BOOST_TEST(must(parse({"--bundle="})).value("bundle").value_or("none") == "none");
  BOOST_TEST(must(parse({"--bundle", ""})).value("bundle").value_or("none") == "none");
  BOOST_TEST(must(parse({"-e", "A=1"})).value("env").value_or("none") == "A=1");
}

BOOST_AUTO_TEST_CASE(a_switch_stands_alone_and_may_be_switched_off) {
  BOOST_TEST(must(parse({"--force"})).has("force"));
  BOOST_TEST(must(parse({"-f"})).has("force"));
  BOOST_TEST(must(parse({"-force"})).has("force"));
  BOOST_TEST(!must(parse({})).has("force"));
  for (const char* on : {"true", "1", "t", "T"})
    BOOST_TEST(must(parse({std::string("--force=") + on})).has("force"));
  for (const char* off : {"false", "0", "f", "F"}) {
    BOOST_TEST(!must(parse({std::string("--force=") + off})).has("force"));
    BOOST_TEST(!must(parse({"--force", "-f", std::string("-f=") + off})).has("force"));
  }
  BOOST_TEST(must(parse({"--force=false", "--force"})).has("force"));
  // The word after a switch is an operand, not the value of the switch.
  const Arguments arguments = must(parse({"--force", "false"}));
  BOOST_TEST(arguments.has("force"));
  BOOST_TEST(arguments.operands() == Words{"false"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_switch_takes_no_other_value) {
  for (const char* word : {"--force=maybe", "--force=", "-f=2", "--no-subreaper=yes"})
    BOOST_TEST(error_of({word}).find(word) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(go_style_long_options_with_one_dash_are_known) {  // -no-subreaper
  BOOST_TEST(must(parse({"-no-subreaper", "--bundle", "B", "ID"})).has("no-subreaper"));
}

BOOST_AUTO_TEST_CASE(unknown_options_are_refused_by_their_name) {
  for (const char* word :
       {"--nope", "-x", "-fx", "--f", "--b", "---force", "--Force", "--forc", "--", "-9"}) {
    if (std::string_view(word) == "--") continue;
    BOOST_TEST(error_of({word}).find(word) != std::string::npos);
  }
  // The error does not repeat the value, which may be a secret.
  BOOST_TEST(error_of({"--token=s3cret"}).find("s3cret") == std::string::npos);
  BOOST_TEST(!parse({"--=x"}));
  BOOST_TEST(!parse({"-=x"}));
}

BOOST_AUTO_TEST_CASE(a_value_that_is_missing_is_told) {
  BOOST_TEST(error_of({"id", "--bundle"}).find("--bundle") != std::string::npos);
  BOOST_TEST(error_of({"-e"}).find("NAME=VALUE") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(two_dashes_end_the_options) {
  const Arguments arguments = must(parse({"--force", "--", "--bundle", "-f", "--"}));
  BOOST_TEST(arguments.has("force"));
  BOOST_TEST(!arguments.has("bundle"));
  const Words expected{"--bundle", "-f", "--"};
  BOOST_TEST(arguments.operands() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_dash_alone_and_an_empty_word_are_operands) {  // update --resources -
  const Words words{"-", "", "id"};
  BOOST_TEST(must(parse(words)).operands() == words, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(options_may_follow_operands_but_not_where_these_belong_to_a_program) {
  const Words words{"-f", "id", "ls", "--bundle", "x", "-f", "--", "--unknown"};
  const Arguments exec = must(parse(words, kExec));
  const Words rest{"id", "ls", "--bundle", "x", "-f", "--", "--unknown"};
  BOOST_TEST(exec.has("force"));
  BOOST_TEST(!exec.has("bundle"));
  BOOST_TEST(exec.operands() == rest, boost::test_tools::per_element());
  const Arguments anywhere = must(parse({"id", "-f", "sig"}));
  BOOST_TEST(anywhere.has("force"));
  BOOST_TEST(anywhere.operands().size() == 2u);
}

BOOST_AUTO_TEST_CASE(options_before_the_command_end_at_the_command) {
  std::size_t consumed = 99;
  const Words words{"--root", "x", "--debug", "one", "--nope"};
  const Arguments globals = must(parse_before(kProgram, words, consumed));
  BOOST_TEST(consumed == 3u);
  BOOST_TEST(globals.value("root").value_or("none") == "x");
  BOOST_TEST(globals.operands().empty());
  must(parse_before(kProgram, Words{"--debug"}, consumed));
  BOOST_TEST(consumed == 1u);
  must(parse_before(kProgram, Words{"--", "one"}, consumed));
  BOOST_TEST(consumed == 1u);
  BOOST_TEST(must_fail(parse_before(kProgram, Words{"--root"}, consumed)) ==
             "--root: a value (DIR) is missing");
}

BOOST_AUTO_TEST_CASE(the_last_value_counts_and_repeatable_options_keep_their_order) {
  const Arguments arguments =
      must(parse({"-e", "B=1", "--bundle", "first", "--env", "A=2", "-e=B=3", "-b", "last"}));
  BOOST_TEST(arguments.value("bundle").value_or("none") == "last");
  const Words expected{"B=1", "A=2", "B=3"};
  BOOST_TEST(arguments.values("env") == expected, boost::test_tools::per_element());
  BOOST_TEST(arguments.values("force").empty());
  BOOST_TEST(!arguments.value("force").has_value());
}

BOOST_AUTO_TEST_CASE(numbers_are_read_whole_and_in_their_range) {
  BOOST_TEST(must(must(parse({})).number("preserve-fds", 7, 100)) == 7);
  BOOST_TEST(must(must(parse({"--preserve-fds="})).number("preserve-fds", 7, 100)) == 7);
  for (const char* good : {"0", "3", "100"})
    BOOST_TEST(must(must(parse({"--preserve-fds", good})).number("preserve-fds", 7, 100)) ==
               std::atoi(good));
  for (const char* bad : {"-1", "+1", "101", "1x", " 1", "1 ", "0x1", "99999999999", "three"}) {
    const Arguments arguments = must(parse({"--preserve-fds", bad}));
    const std::string text = must_fail(arguments.number("preserve-fds", 7, 100));
    BOOST_TEST(text.find("--preserve-fds") != std::string::npos);
    BOOST_TEST(text.find("100") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(an_empty_path_counts_as_none) {
  BOOST_TEST(!must(parse({"--bundle="})).path("bundle").has_value());
  BOOST_TEST(!must(parse({})).path("bundle").has_value());
  BOOST_TEST(must(parse({"-b", "x"})).path("bundle")->string() == "x");
}

BOOST_AUTO_TEST_CASE(an_empty_value_counts_where_the_program_says_so) {
  constexpr Program kStrict{.name = "strict", .commands = kCommands};
  const Arguments arguments =
      must(bundle::cli::parse(kStrict, kAnywhere, Words{"--bundle=", "-e", "", "-e", "A=1"}));
  BOOST_TEST(arguments.value("bundle").value_or("none").empty());
  BOOST_TEST(arguments.values("env").size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_value_that_may_be_missing_follows_an_equals_sign) {
  BOOST_TEST(must(parse({"--ready"})).has("ready"));
  BOOST_TEST(must(parse({"--ready=30"})).value("ready").value_or("none") == "30");
  BOOST_TEST(must(parse({"-r=30"})).value("ready").value_or("none") == "30");
  BOOST_TEST(must_fail(parse({"--ready", "30", "file"}, kOne)) ==
             "--ready 30: \"30\" is taken as an operand: write --ready=30");
  BOOST_TEST(must_fail(parse({"file", "-r", "30"}, kOne)).contains("write --ready=30"));
  BOOST_TEST(must_fail(parse({"--ready", "-f", "one", "two"}, kOne)) ==
             "\"two\" is one operand too many: one takes FILE");
}

BOOST_AUTO_TEST_CASE(dashes_may_stand_between_an_operand_and_the_program_of_another) {
  const Words expected{"web", "echo", "-f", "--"};
  for (const Words& words :
       {Words{"web", "echo", "-f", "--"}, Words{"web", "--", "echo", "-f", "--"},
        Words{"--", "web", "--", "echo", "-f", "--"}})
    BOOST_TEST(must(parse(words, kExec)).operands() == expected, boost::test_tools::per_element());
  const Words program{"web", "--"};
  BOOST_TEST(must(parse({"web", "--", "--"}, kExec)).operands() == program,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_number_of_operands_that_does_not_suit_is_told) {
  BOOST_TEST(must_fail(parse({}, kOne)) == "FILE is missing; see ocirun one --help");
  BOOST_TEST(must_fail(parse({"a", "b", "c"}, kOne)) ==
             "\"b\" is one operand too many: one takes FILE");
}

BOOST_AUTO_TEST_CASE(an_option_that_belongs_elsewhere_is_told_where) {
  BOOST_TEST(error_of({"--root", "/x"}) ==
             "--root is an option of ocirun itself: it stands before the command");
  BOOST_TEST(error_of({"web1", "--debug"}) ==
             "--debug is an option of ocirun itself: it stands before the command");
  for (const char* word : {"-9", "-KILL", "-SIGTERM"})
    BOOST_TEST(error_of({"web1", word})
                   .ends_with(std::string("the signal is an operand: ocirun "
                                          "kill ID ") +
                              (word + 1)));
  BOOST_TEST(error_of({"-i"}) == "unknown option -i; see --help");
}

BOOST_AUTO_TEST_CASE(letters_may_stand_together_and_the_last_may_take_a_value) {
  for (const Words& words : {Words{"-fq"}, Words{"-qf"}, Words{"-f", "-q"}}) {
    const Arguments arguments = must(parse(words));
    BOOST_TEST(arguments.has("force"));
    BOOST_TEST(arguments.has("quiet"));
  }
  for (const Words& words : {Words{"-fqb", "dir"}, Words{"-fqb=dir"}}) {
    const Arguments arguments = must(parse(words));
    BOOST_TEST(arguments.value("bundle").value_or("none") == "dir");
    BOOST_TEST((arguments.has("force") && arguments.has("quiet")));
  }
  const Arguments without = must(parse({"-fq=false"}));
  BOOST_TEST((without.has("force") && !without.has("quiet")));
  BOOST_TEST(must(parse({"-fr=30"})).value("ready").value_or("none") == "30");
  BOOST_TEST(must(parse({"-fr"})).has("ready"));
  BOOST_TEST(error_of({"-fb"}) == "--bundle: a value (DIR) is missing");
  BOOST_TEST(error_of({"-fq=x"}) == "-fq=x: takes no value but true or false");
  const Words program{"web", "-fq"};
  BOOST_TEST(must(parse({"-f", "web", "-fq"}, kExec)).operands() == program,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_unknown_letter_and_a_value_that_is_not_apart_are_named) {
  BOOST_TEST(error_of({"-fx"}) == "unknown option -x in -fx; see --help");
  BOOST_TEST(error_of({"-fxq=1"}) == "unknown option -x in -fxq; see --help");
  BOOST_TEST(error_of({"-xfq"}) == "unknown option -x in -xfq; see --help");
  BOOST_TEST(error_of({"-xyz"}) == "unknown option -xyz; see --help");
  BOOST_TEST(error_of({"-bdir"}) == "unknown option -bdir (did you mean -b dir?); see --help");
  BOOST_TEST(error_of({"-fqbdir"}) ==
             "unknown option -fqbdir (did you mean -fq -b dir?); see --help");
  BOOST_TEST(error_of({"-buldne"}) ==
             "unknown option -buldne (did you mean --bundle, or -b uldne?); see --help");
}

BOOST_AUTO_TEST_CASE(help_is_asked_for_before_the_operands_of_another_program) {
  BOOST_TEST(ask_for_help(kOne, Words{"file", "--help"}));
  BOOST_TEST(ask_for_help(kExec, Words{"-f", "-h"}));
  BOOST_TEST(!ask_for_help(kExec, Words{"web", "ls", "--help"}));
  BOOST_TEST(!ask_for_help(kOne, Words{"--", "--help"}));
  BOOST_TEST(!ask_for_help(kOne, Words{}));
}

BOOST_AUTO_TEST_CASE(words_of_arguments_are_read_again_as_the_same) {
  const Arguments arguments =
      must(parse({"-f", "--ready", "-e", "A=1", "--env=B=2", "-b", "x", "--quiet=true"}));
  const Words expected{"--bundle=x", "--force", "--env=A=1", "--env=B=2", "--ready"};
  BOOST_TEST(arguments.words_but(kOptions, std::array<std::string_view, 1>{"quiet"}) == expected,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
