#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hooks/run_hook.hpp"

namespace ocirun::runtime {

/// What init tells of the hooks of one kind that it has run, and that all have succeeded: a line
/// "STARTED LASTED" for each: "2026-11-30T19:04:05Z 12", in milliseconds.
std::string hook_times(std::span<const hooks::HookRun> runs);
/// The runs of a text of hook_times(). Init may be in the hands of the container: what is no such
/// line is left out, and so is each line behind the last hook of `kind`.
std::vector<hooks::HookRun> parse_hook_times(std::string_view text, const hooks::Hooks& hooks,
                                             hooks::Kind kind);

}  // namespace ocirun::runtime
