#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cgroups/hierarchies/layout.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// The parent of the cgroups of containers that name no absolute path.
inline constexpr std::string_view kOwnParent = "/ocirun";

/// Where a container's cgroup is to be (R-1 … R-4).
struct Placement {
  std::string path;  // below each hierarchy's mount point, absolute, normal, never "/"
};

/// An absolute `cgroups_path` is that path below every mount point, a relative "a/b" is
/// /ocirun/a/b, and an absent or empty one is /ocirun/<id>. Errors: a ".." in it, the root cgroup
/// itself, control characters (cgroupfs refuses newlines), a part longer than 255 bytes.
Result<Placement> place(const std::optional<std::string>& cgroups_path, const std::string& id);

/// "a//./b" becomes "/a/b". Same errors as place(), but "/" is allowed. `what` names the text in
/// errors.
Result<std::string> normal_path(std::string_view text, std::string_view what);

}  // namespace ocirun::cgroups
