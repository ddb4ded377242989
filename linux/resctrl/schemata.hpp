#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/resctrl/group.hpp"

namespace ocirun::linux {

/// The lines of `rdt` in the order of writing: l3CacheSchema, memBwSchema, schemata (I-4).
std::vector<std::string> schema_lines(const IntelRdt& rdt);

/// Whether `schemata`, the text of that file, contains every "resource:domain=value" of `line`.
/// Blanks, leading zeros and upper-case hexadecimal digits make no difference. Errors: the line
/// does not have the form "L3:0=7f0;1=1f".
Result<bool> schemata_agree(std::string_view line, std::string_view schemata);

/// The lines of `schemata`, the text of that file, for the resources that occur in `lines`.
std::vector<std::string> schemata_of(std::string_view schemata,
                                     const std::vector<std::string>& lines);

}  // namespace ocirun::linux
