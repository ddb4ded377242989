#include "pods/images/escaped.hpp"

#include "bundle/json/writer.hpp"

namespace ocirun::pods {

std::string escaped(std::string_view text) {
  const std::string quoted = bundle::in_quotes(text);
  return quoted.ends_with('"') ? quoted.substr(1, quoted.size() - 2) : quoted.substr(1);
}

}  // namespace ocirun::pods
