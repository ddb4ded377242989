#pragma once

#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {

/// `checkpoint` and `restore`.
extern const AddedCommands kCriuCommands;

}  // namespace ocirun::runtime::cli
