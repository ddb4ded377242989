#pragma once

#include <string>

namespace ocirun::bundle {

/// The document of `ocirun features` (features.md, F-1 … F-15): what this build implements,
/// whatever the host, but for the running kernel's linux.seccomp.supportedFlags.
std::string features_text();

}  // namespace ocirun::bundle
