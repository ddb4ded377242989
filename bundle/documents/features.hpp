#pragma once

#include <string>

namespace ocirun::bundle {

/// The document of `ocirun features` (features.md, F-1 … F-15). It describes this build, not the
/// host, with two exceptions: linux.seccomp.supportedFlags are those of the running kernel, and
/// `criu` says whether checkpoint and restore find the programs that they need.
enum class Criu { kIsMissing, kIsFound };
std::string features_text(Criu criu);

}  // namespace ocirun::bundle
