#pragma once

#include <span>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun::pods::cli {

/// A command of `ocirun pod`.
struct Command {
  std::string_view name;
  std::string_view operands;
  std::string_view summary;
  std::size_t least_operands;
  Result<int> (*run)(std::span<const std::string> operands);  // the exit status
};

/// `ocirun pod validate FILE…`: prints all problems and warnings of the documents.
Result<int> run_validate(std::span<const std::string> operands);

/// Prints to stdout. Errors: it is closed or full.
Result<void> print(std::string_view text);

}  // namespace ocirun::pods::cli
