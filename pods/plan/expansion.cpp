#include "pods/plan/expansion.hpp"

namespace ocirun::pods {

std::string expand(std::string_view text, const Variables& variables) {
  std::string out;
  while (!text.empty()) {
    const std::size_t sign = text.find('$');
    out += text.substr(0, sign);
    if (sign == std::string_view::npos) break;
    text.remove_prefix(sign);
    const std::size_t end = text.starts_with("$(") ? text.find(')') : std::string_view::npos;
    if (end != std::string_view::npos) {
      const auto variable = variables.find(text.substr(2, end - 2));
      out += variable != variables.end() ? std::string_view(variable->second)
                                         : text.substr(0, end + 1);
      text.remove_prefix(end + 1);
    } else {
      out += '$';
      text.remove_prefix(text.starts_with("$$") ? 2 : 1);
    }
  }
  return out;
}

}  // namespace ocirun::pods
