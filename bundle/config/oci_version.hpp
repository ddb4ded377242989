#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace ocirun::bundle {

/// The numbers of a SemVer 2.0.0 version. Its pre-release and build parts are not kept.
struct Version {
  std::uint64_t major = 0, minor = 0, patch = 0;
};

/// Parses `text`; nothing if it is not SemVer 2.0.0 ("1.3.0", "1.0.2-dev", "1.3.0+dev").
std::optional<Version> parse_version(std::string_view text);

/// How documents of a version are read (D-10, SD-1). kNewer documents are read like kCurrent ones,
/// with a warning; kNone documents are refused.
enum class Support { kLegacy05, kCurrent, kNewer, kNone };
Support support_of(const Version& version);

/// whether a `pids.limit` of 0 is a limit in a document of this version. It is one since
/// specification 1.3. Before, 0 meant "not given"; CRI-O up to 1.28 sends 0 for "unlimited".
bool honours_pids_limit_of_zero(std::string_view oci_version);

/// The versions that ocirun reports: in features (F-1), `--version` and the default config.
inline constexpr std::string_view kOldestVersion = "1.0.0";
inline constexpr std::string_view kNewestVersion = "1.3.0";

/// The architecture of this build, by the name that OCI documents use, such as "amd64".
std::string_view architecture_of_build();

}  // namespace ocirun::bundle
