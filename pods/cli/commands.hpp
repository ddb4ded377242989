#pragma once

#include <span>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "pods/cli/arguments.hpp"

namespace ocirun::pods::cli {

/// A command of `ocirun pod`.
struct Command {
  std::string_view name;
  std::string_view operands;
  std::string_view summary;
  std::span<const Option> options;
  std::size_t least_operands;
  Result<int> (*run)(const Arguments& arguments);  // the exit status
};

/// `ocirun pod validate FILE…`: prints all problems and warnings of the documents. With --profile:
/// validate_contract().
Result<int> run_validate(const Arguments& arguments);
/// Prints which clauses of the Knative runtime contract each bundle meets. Errors: a bundle cannot
/// be read; a clause of the level MUST is not met.
Result<int> validate_contract(std::span<const std::string> bundles);

/// Prints to stdout. Errors: it is closed or full.
Result<void> print(std::string_view text);

}  // namespace ocirun::pods::cli
