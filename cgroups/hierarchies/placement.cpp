#include "cgroups/hierarchies/placement.hpp"

#include <algorithm>

#include "cgroups/hierarchies/text.hpp"

namespace ocirun::cgroups {

Result<std::string> normal_path(std::string_view text, std::string_view what) {
  if (std::ranges::any_of(text, [](char c) { return c == '\x7f' || (c >= 0 && c < ' '); }))
    return refuse("{}: a cgroup's path must not hold control characters", what);
  std::string path;
  for (const std::string_view part : words(text, '/')) {
    if (part == ".") continue;
    if (part == "..")
      return refuse("{} \"{}\": \"..\" is not allowed in a cgroup's path", what, text);
    if (part.size() > 255)
      return refuse("{} \"{}\": a part of a cgroup's path has at most 255 bytes", what, text);
    path += '/';
    path += part;
  }
  return path.empty() ? "/" : path;
}

Result<Placement> place(const std::optional<std::string>& cgroups_path, const std::string& id) {
  const std::string asked = cgroups_path.value_or("");
  TRY_ASSIGN(std::string path, normal_path(asked.empty() ? id : asked, "/linux/cgroupsPath"));
  if (path == "/")
    return refuse(
        "/linux/cgroupsPath \"{}\": the root cgroup holds the host's own processes; name one below "
        "it",
        asked);
  if (asked.starts_with('/')) return Placement{std::move(path)};
  return Placement{fmt::format("{}{}", kOwnParent, path)};
}

}  // namespace ocirun::cgroups
