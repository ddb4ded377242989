#pragma once

#include <string>
#include <string_view>

namespace ocirun::linux {

/// `text` with its control characters written out, as "\x1b": a name in an image must not control
/// the terminal of whoever reads a message. Newlines and tabs stay. A C1 control is written out
/// both as two bytes of UTF-8 and as the single byte that a terminal without UTF-8 obeys.
std::string without_controls(std::string_view text);
/// Like without_controls(), with newlines and tabs written out too: for a cell of a table.
std::string in_one_line(std::string_view text);

}  // namespace ocirun::linux
