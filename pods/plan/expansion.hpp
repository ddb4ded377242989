#pragma once

#include <map>
#include <string>
#include <string_view>

namespace ocirun::pods {

using Variables = std::map<std::string, std::string, std::less<>>;

/// Replaces each "$(NAME)" by the variable, as Kubernetes does: a name that `variables` lacks stays
/// as it is written, and "$$" becomes "$" and begins no reference.
std::string expand(std::string_view text, const Variables& variables);

}  // namespace ocirun::pods
