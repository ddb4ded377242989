#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/cli/table.hpp"
#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"

namespace ocirun::bundle::cli {

/// The options and operands of a command line.
class Arguments {
 public:
  /// Whether the command line has the option; also with an empty value.
  bool has(std::string_view option) const { return values_.contains(option); }
  bool has_no_option() const { return values_.empty(); }
  /// The last value of the option. Nothing for an empty value if Program::empty_value is kIsNone.
  std::optional<std::string> value(std::string_view option) const;
  /// All values of the option, in the order of the command line; with kIsNone, the empty values are
  /// left out.
  std::vector<std::string> values(std::string_view option) const;
  /// The option's value, or `otherwise` without one. Errors: the value is not a number from 0 to
  /// `most`.
  Result<int> number(std::string_view option, int otherwise, int most) const;
  std::optional<HostPath> path(std::string_view option) const;
  const std::vector<std::string>& operands() const { return operands_; }

  /// Gives a value to an option that is not on the command line.
  void set_default(std::string_view option, std::string value);
  /// The options of the command line but `left_out`, each as a word that parse() reads again, in
  /// the order of the table `options`.
  std::vector<std::string> words_but(std::span<const Option> options,
                                     std::span<const std::string_view> left_out) const;

 private:
  friend class Reader;
  std::multimap<std::string, std::string, std::less<>> values_;
  std::vector<std::string> operands_;
  EmptyValue empty_value_ = EmptyValue::kCounts;
};

/// Reads a command line word by word: `--name value`, `--name=value`, `-n value`, `-n=value`,
/// `--switch`, `--switch=false`, `--name[=value]`, and letters together: `-xyn value` for the
/// switches -x and -y and the option -n. All words behind `--` are operands, and so are "-" and "".
class Reader {
 public:
  /// `syntax`: the command whose words are read; nullptr: the words before a command are read.
  Reader(const Program& program, const Syntax* syntax);
  /// Errors: an option that does not exist; a switch with a value other than true and false. The
  /// word is then passed over.
  Result<void> read(std::string_view word);
  /// Whether the word would be an operand.
  bool is_operand(std::string_view word) const;
  /// The option that the next word is the value of; nullptr: none.
  const Option* waiting() const { return waiting_; }
  /// Whether no word from here on is an option.
  bool has_only_operands() const { return has_only_operands_; }
  std::span<const Option> options() const;
  const Arguments& arguments() const { return arguments_; }
  /// The arguments. Errors: a missing value; too few or too many operands.
  Result<Arguments> finish();

 private:
  void add_operand(std::string_view word);
  const Program& program_;
  const Syntax* syntax_;
  Arguments arguments_;
  const Option* waiting_ = nullptr;
  bool has_only_operands_ = false, has_ended_twice_ = false;
  // For the error that asks for --NAME=VALUE: the option without its value, and the index of the
  // operand behind the option.
  const Option* bare_ = nullptr;
  std::size_t behind_bare_ = kAnyNumber;
  bool was_bare_ = false;  // the word before was such an option
};

/// Parses the words behind a command's name. Errors: those of Reader.
Result<Arguments> parse(const Program& program, const Syntax& syntax,
                        std::span<const std::string> words);
/// Parses the options before the command. `consumed` gets the index of the command.
Result<Arguments> parse_before(const Program& program, std::span<const std::string> words,
                               std::size_t& consumed);
/// Whether the words behind a command's name ask for its help.
bool ask_for_help(const Syntax& syntax, std::span<const std::string> words);

/// The error for an option that does not exist, with what was probably meant.
Error unknown_option(const Program& program, const Syntax* syntax, std::string_view written);
/// The error for a command that does not exist. `meant`: the command to suggest; "": the one with
/// the most similar name.
Error unknown_command(const Program& program, std::string_view word, std::string_view meant = {});

}  // namespace ocirun::bundle::cli
