#pragma once

#include <optional>
#include <string_view>

#include "cgroups/container/record.hpp"
#include "linux/base/error.hpp"

namespace ocirun::runtime {

/// --manage-cgroups-mode: what happens to cgroups below the container's, and to saved limits.
/// kSoft: CRIU makes those below again, and the limits are those of config.json.
/// kFull: CRIU also writes the limits that it has saved.
/// kStrict: as kFull, and the container's cgroup must not exist before.
/// kIgnore: nothing is saved, and all processes are restored in the container's cgroup itself.
enum class CgroupMode { kSoft, kFull, kStrict, kIgnore };

inline constexpr std::string_view kCgroupModes = "soft|full|strict|ignore";
/// Nothing for a text that is none of kCgroupModes.
std::optional<CgroupMode> parse_cgroup_mode(std::string_view text);
/// The mode for CRIU. Its own "strict" refuses the cgroup that `restore` makes for the container,
/// and which is empty: below it, "full" is strict.
std::string_view crius_mode(CgroupMode mode);
/// Error for kStrict: a directory of `planned` exists.
Result<void> check_absence(const cgroups::Record& planned, CgroupMode mode);

}  // namespace ocirun::runtime
