#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ocirun::pods {

/// A text of a stranger, such as a name in an archive, for a message: control characters are
/// escaped, long texts cut.
std::string escaped(std::string_view text);

/// Texts of a stranger in quotes, sorted; behind the first 20 stands "…".
std::string in_list(std::vector<std::string> texts);

}  // namespace ocirun::pods
