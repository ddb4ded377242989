#pragma once

#include <string>

#include "bundle/cli/table.hpp"

namespace ocirun::bundle::cli {

/// A line for each command: its name and operands, and what it does.
std::string command_lines(const Program& program);
/// A line for each option, or two if its name and value are long.
std::string option_lines(std::span<const Option> options);
/// The usage of a command and its options.
std::string help_text(const Program& program, const Syntax& command);

}  // namespace ocirun::bundle::cli
