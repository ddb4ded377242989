#pragma once

#include <string>
#include <string_view>

namespace ocirun::pods {

/// A text of a stranger, such as a name in an archive, for a message: control characters are
/// escaped, long texts cut.
std::string escaped(std::string_view text);

}  // namespace ocirun::pods
