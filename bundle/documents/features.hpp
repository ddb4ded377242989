#pragma once

#include <string>

namespace ocirun::bundle {

/// Whether checkpoint and restore find the programs that they need on this host.
enum class Criu { kIsMissing, kIsFound };
/// The document of `ocirun features` (features.md, F-1 … F-15). It describes this build, not the
/// host, with two exceptions: linux.seccomp.supportedFlags are those of the running kernel, and an
/// annotation tells `criu`.
std::string features_text(Criu criu);

}  // namespace ocirun::bundle
