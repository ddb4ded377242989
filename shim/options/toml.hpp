#pragma once

#include <string_view>

#include "linux/base/error.hpp"
#include "shim/options/runtime_options.hpp"

namespace ocirun::shim {

/// Reads the options in the TOML document `text`; parse_options() says which keys are read. `where`
/// names the document in errors. Errors name the line and the key.
Result<RuntimeOptions> parse_toml_options(std::string_view text, std::string_view where);

}  // namespace ocirun::shim
