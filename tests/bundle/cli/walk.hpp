#pragma once

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "bundle/cli/arguments.hpp"
#include "bundle/cli/completion.hpp"
#include "tests/must.hpp"

// Walks over all commands and options of a program: `ocirun` and `ocirun pod` take the same forms.
namespace ocirun::test {

using Words = std::vector<std::string>;

inline std::vector<bundle::cli::Candidate> no_names(const bundle::cli::Question&) { return {}; }

/// The words that completion offers, without their help.
inline std::set<std::string> offered(const bundle::cli::Program& program, const Words& words,
                                     bundle::cli::Names names = no_names) {
  std::string text = bundle::cli::completion_text(program, names, words);
  std::set<std::string> found;
  while (!text.empty()) {
    const std::string line = text.substr(0, text.find('\n'));
    text.erase(0, line.size() + 1);
    found.insert(line.substr(0, line.find('\t')));
  }
  return found;
}

/// Calls of one command.
class Form {
 public:
  Form(const bundle::cli::Program& program, const bundle::cli::Syntax& syntax)
      : program_(program), syntax_(syntax), operands_(syntax.count.least, "x") {}

  /// The options before the operands.
  Result<bundle::cli::Arguments> parse(Words words) const {
    words.insert(words.end(), operands_.begin(), operands_.end());
    return bundle::cli::parse(program_, syntax_, words);
  }
  Result<bundle::cli::Arguments> parse_behind(const Words& options) const {
    Words words = operands_;
    words.insert(words.end(), options.begin(), options.end());
    return bundle::cli::parse(program_, syntax_, words);
  }
  bool takes(const Words& words, std::string_view option, std::string_view value) const {
    const auto arguments = parse(words);
    return arguments && arguments->value(option).value_or("none") == value &&
           arguments->operands() == operands_;
  }
  bool refuses(const Words& words, std::string_view sentence) const {
    const auto arguments = parse(words);
    return !arguments && arguments.error().message().contains(sentence);
  }
  std::size_t operand_count() const { return operands_.size(); }

 private:
  const bundle::cli::Program& program_;
  const bundle::cli::Syntax& syntax_;
  Words operands_;
};

inline void check_switch(const Form& form, const bundle::cli::Option& option,
                         const std::string& written) {
  BOOST_TEST(must(form.parse({written})).has(option.name));
  BOOST_TEST(must(form.parse({written + "=true"})).has(option.name));
  BOOST_TEST(!must(form.parse({written, written + "=false"})).has(option.name));
  BOOST_TEST(form.refuses({written + "=maybe"}, "true or false"));
}

inline void check_value(const Form& form, const bundle::cli::Option& option,
                        const std::string& written) {
  BOOST_TEST(form.takes({written + "=v"}, option.name, "v"));
  BOOST_TEST(form.takes({written + "=a=b"}, option.name, "a=b"));
  if (bundle::cli::may_lack_value(option)) {
    BOOST_TEST(form.takes({written}, option.name, ""));
    return;
  }
  BOOST_TEST(form.takes({written, "v"}, option.name, "v"));
  BOOST_TEST(form.takes({written, "--"}, option.name, "--"));
  const auto lacks = form.parse_behind({written});
  if (form.operand_count() == 0) BOOST_TEST(must_fail(lacks).contains(option.value));
}

inline void check_forms(const bundle::cli::Program& program, const bundle::cli::Syntax& syntax,
                        const bundle::cli::Option& option) {
  const Form form(program, syntax);
  const std::string name(option.name);
  Words spellings{"--" + name, "-" + name};
  if (option.letter != 0) spellings.push_back({'-', option.letter});
  for (const std::string& written : spellings) BOOST_TEST_CONTEXT(written) {
      if (option.value.empty())
        check_switch(form, option, written);
      else
        check_value(form, option, written);
    }
  if (option.letter != 0 && !option.value.empty())
    BOOST_TEST(form.refuses({std::string{'-', option.letter} + "zz9"},
                            std::string{'-', option.letter} + " zz9"));
  BOOST_TEST(form.refuses({"--" + name + "x=v"}, "did you mean --"));

  const bool is_anywhere = syntax.placement == bundle::cli::OptionPlacement::kAnywhere;
  const auto behind = form.parse_behind({"--" + name + (option.value.empty() ? "" : "=v")});
  BOOST_TEST(must(behind).has(option.name) == (is_anywhere || form.operand_count() == 0));
  const auto ended = form.parse_behind({"--", "--" + name});
  if (ended) BOOST_TEST(!ended->has(option.name));
  if (!ended) BOOST_TEST(ended.error().message().contains("one operand too many"));
}

/// Completion offers exactly the options that the command takes, and each as it is written.
inline void check_offered_options(const bundle::cli::Program& program,
                                  const bundle::cli::Syntax& syntax) {
  std::set<std::string> expected{"--help", "-h"};
  for (const bundle::cli::Option& option : syntax.options) {
    expected.insert("--" + std::string(option.name));
    if (option.letter != 0) expected.insert({'-', option.letter});
    const std::string name(option.name);
    const Words given{std::string(syntax.name), "--" + name + (option.value.empty() ? "" : "=v"),
                      "--" + name};
    BOOST_TEST(offered(program, given).contains("--" + name) ==
               (option.times == bundle::cli::Times::kMany));
  }
  BOOST_TEST(offered(program, {std::string(syntax.name), "-"}) == expected,
             boost::test_tools::per_element());
}

/// The table itself has no contradiction.
inline void check_table(const bundle::cli::Syntax& syntax) {
  using bundle::cli::Completes;
  std::set<std::string_view> names;
  std::set<char> letters;
  for (const bundle::cli::Option& option : syntax.options) BOOST_TEST_CONTEXT(option.name) {
      BOOST_TEST(!option.name.empty());
      BOOST_TEST(!option.name.starts_with('-'));
      BOOST_TEST(!option.help.empty());
      BOOST_TEST(names.insert(option.name).second);
      if (option.letter != 0) BOOST_TEST(letters.insert(option.letter).second);
      if (option.value.empty()) BOOST_TEST((option.completes == Completes::kNothing));
      if (option.value.contains('|')) BOOST_TEST((option.completes == Completes::kWords));
    }
  BOOST_TEST(!syntax.summary.empty());
  BOOST_TEST(syntax.count.least <= syntax.count.most);
  for (std::size_t i = syntax.count.most; i < syntax.completed_operands.size(); ++i)
    BOOST_TEST((syntax.completed_operands.at(i).completes == Completes::kNothing));
  for (const bundle::cli::Operand& operand : syntax.completed_operands) {
    if (operand.widened_by.empty()) continue;
    const std::string written = "--" + std::string(operand.widened_by);
    const bundle::cli::Option* option = bundle::cli::find_option(syntax.options, written);
    BOOST_REQUIRE(option != nullptr);
    BOOST_TEST(option->value.empty());
  }
}

inline void walk(const bundle::cli::Program& program) {
  std::set<std::string> commands;
  for (const bundle::cli::Syntax* syntax : program.commands) BOOST_TEST_CONTEXT(syntax->name) {
      BOOST_TEST(commands.insert(std::string(syntax->name)).second);
      check_table(*syntax);
      for (const bundle::cli::Option& option : syntax->options)
        BOOST_TEST_CONTEXT(option.name) check_forms(program, *syntax, option);
      check_offered_options(program, *syntax);
    }
  BOOST_TEST(offered(program, {""}) == commands, boost::test_tools::per_element());
}

}  // namespace ocirun::test
