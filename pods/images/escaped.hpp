#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ocirun::pods {

/// Prepares an untrusted text, such as a name in an archive, for a message: escapes control
/// characters, and cuts long texts.
std::string escaped(std::string_view text);

/// Lists untrusted texts for a message: sorted, each in quotes. "…" replaces all texts after the
/// first 20.
std::string in_list(std::vector<std::string> texts);

}  // namespace ocirun::pods
