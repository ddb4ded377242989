#pragma once

#include <string>

namespace ocirun::bundle {

/// `ocirun features` (features.md, F-1 … F-15): true to what this build implements, whatever the
/// host.
std::string features_text();

}  // namespace ocirun::bundle
