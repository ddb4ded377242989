#pragma once

#include <optional>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {

/// The write that restores what the file of `write` holds now. Nothing when the file cannot be
/// read, because it will not be written either.
std::optional<Write> old_value(const Directory& directory, const Write& write);

/// `text` is what `file` holds. Returns what to write into it so that it reads as `text` again
/// after `value` has been written. For files with one line for each device, like io.max, this is
/// the line of the device that `value` names, or the value that clears that line.
std::string restoring_value(std::string_view file, std::string_view text, std::string_view value);

}  // namespace ocirun::cgroups
