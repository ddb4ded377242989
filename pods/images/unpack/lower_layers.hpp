#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/layer.hpp"

namespace ocirun::pods {

/// Describes `name` in `directory`; nothing if the name is free. Does not follow symlinks.
Result<std::optional<struct stat>> look(Fd directory, const std::string& name);

/// What one layer shows at a path. kAbsent: the layers below decide. kHidden: a whiteout, an opaque
/// directory, or an entry that is no directory hides the path in the layers below.
enum class Sight : std::uint8_t { kFound, kAbsent, kHidden };

/// An entry of a layer, and its directory. The name of the root is ".".
struct LowerEntry {
  UniqueFd directory;
  std::string name;
  struct stat info{};
};

/// Looks for `path` ("a/b", "" for the root) in one layer, and fills `entry` if the path is found.
/// Follows no symlink.
Result<Sight> look_in_layer(Fd layer, std::string_view path, OpaqueMark mark, LowerEntry& entry);

/// What all layers together show as `path`; nothing if they show none.
Result<std::optional<LowerEntry>> find_below(const LowerLayers& layers, std::string_view path,
                                             OpaqueMark mark);

}  // namespace ocirun::pods
