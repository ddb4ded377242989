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
  std::string_view value;  // "knative"; empty: a switch
  std::string_view help;
};

/// The options and operands behind a command's name.
class Arguments {
 public:
  /// Parses `words`: `--name value`, `--name=value` and `--switch` anywhere; all words behind `--`
  /// are operands, and so is "-". Errors: an option that is not in `options`, a missing value.
  static Result<Arguments> parse(std::span<const std::string> words,
                                 std::span<const Option> options);

  bool has(std::string_view option) const { return values_.contains(option); }
  /// The last value of the option.
  std::optional<std::string> value(std::string_view option) const;
  const std::vector<std::string>& operands() const { return operands_; }

 private:
  std::multimap<std::string, std::string, std::less<>> values_;
  std::vector<std::string> operands_;
};

}  // namespace ocirun::pods::cli
