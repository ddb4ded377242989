#pragma once

#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/json/value.hpp"

namespace ocirun::bundle {

/// Checks the rules that hold between sections of a document. Reports problems and warnings to the
/// report of `root`, and returns the refusals (Parsed::refusals).
std::vector<std::string> check_config(const Config& config, Value root);

}  // namespace ocirun::bundle
