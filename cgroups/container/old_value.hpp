#pragma once

#include <optional>

#include "cgroups/hierarchies/directory.hpp"
#include "cgroups/plan/plan.hpp"

namespace ocirun::cgroups {

/// The write that brings back what the file of `write` holds now. Nothing when the file cannot be
/// read: it will not be written either.
std::optional<Write> old_value(const Directory& directory, const Write& write);

/// The same from the text of `file`: the value to write into it so that it reads like `text` again
/// after `value` was written. Files that hold a line for each device, like io.max, give the line of
/// the device that `value` names, or what clears it.
std::string restoring_value(std::string_view file, std::string_view text, std::string_view value);

}  // namespace ocirun::cgroups
