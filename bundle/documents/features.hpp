#pragma once

#include <string>

namespace ocirun::bundle {

/// The document of `ocirun features` (features.md, F-1 … F-15): what this build implements,
/// whatever the host, but for the running kernel's linux.seccomp.supportedFlags, and for `criu`:
/// whether checkpoint and restore find the programs that they need.
enum class Criu { kIsMissing, kIsFound };
std::string features_text(Criu criu);

}  // namespace ocirun::bundle
