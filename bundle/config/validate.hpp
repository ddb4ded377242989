#pragma once

#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/json/value.hpp"

namespace ocirun::bundle {

/// The rules that hold between sections of a document. What they find wrong goes into the report of
/// `root`; returned is what is no mistake in the document but keeps it from becoming a container
/// (Parsed::refusals).
std::vector<std::string> check_config(const Config& config, Value root);

}  // namespace ocirun::bundle
