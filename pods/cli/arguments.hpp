#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::pods::cli {

/// A row of a command's table of options. The parser and the help read the table.
struct Option {
  std::string_view name;   // "profile"
  std::string_view value;  // "DIR"; empty: a switch; "[=SECONDS]": a value may follow behind "="
  std::string_view help;
  char letter = 0;  // of the short form, "-f"; 0: none
};

/// The options and operands behind a command's name.
class Arguments {
 public:
  /// Parses `words`: `--name value`, `--name=value` and `--switch` anywhere; all words behind `--`
  /// are operands, and so is "-". With `stops`, all words behind the first operand are operands:
  /// they are another program's. Errors: an option that is not in `options`, a missing value.
  static Result<Arguments> parse(std::span<const std::string> words,
                                 std::span<const Option> options, bool stops = false);

  /// Gives an option that the caller left out a value.
  void set_default(std::string_view option, std::string value);
  bool has(std::string_view option) const { return values_.contains(option); }
  /// All values of an option that may be repeated, in their order.
  std::vector<std::string> values(std::string_view option) const;
  /// The last value of the option; "" for a switch.
  std::optional<std::string> value(std::string_view option) const;
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
  std::vector<std::string> operands_;
};

}  // namespace ocirun::pods::cli
