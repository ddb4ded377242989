#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ocirun::bundle {

/// A SemVer 2.0.0 version; of pre-release and build only the presence of well-formed ones matters.
struct Version {
  std::uint64_t major = 0, minor = 0, patch = 0;
};

/// Nothing when `text` is not SemVer 2.0.0 ("1.3.0", "1.0.2-dev", "1.3.0+dev").
std::optional<Version> parse_version(std::string_view text);

/// What a document of a version is to this runtime (D-10, SD-1).
enum class Support { kLegacy05, kCurrent, kNewer, kNone };
Support support_of(const Version& version);

/// whether a `pids.limit` of 0 is a limit in a document of this version. Specification 1.3
/// made it one; before, 0 meant "not given", and CRI-O up to 1.28 sends it for "unlimited".
bool honours_pids_limit_of_zero(std::string_view oci_version);

/// What we tell of ourselves: features (F-1), state, default config.
inline constexpr std::string_view kOldestVersion = "1.0.0";
inline constexpr std::string_view kNewestVersion = "1.3.0";

}  // namespace ocirun::bundle
