#pragma once

#include <string_view>

#include "linux/base/name_table.hpp"

namespace ocirun::runtime::cli {

/// Scripts for shells. Each defines a function that completes the command line of ocirun by calls
/// of `ocirun __complete` (bundle/cli/completion.hpp).
extern const std::string_view kBashCompletion, kZshCompletion, kFishCompletion;

inline constexpr linux::Named<const std::string_view*> kShells[] = {
    {"bash", &kBashCompletion}, {"zsh", &kZshCompletion}, {"fish", &kFishCompletion}};

}  // namespace ocirun::runtime::cli
