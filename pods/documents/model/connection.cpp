#include "pods/documents/model/connection.hpp"

#include "linux/base/letters.hpp"

namespace ocirun::pods {

std::string connection_variable(std::string_view parameter) {
  std::string name = "CONNECTION_";
  for (const char c : parameter) name += linux::is_alphanumeric(c) ? linux::upper(c) : '_';
  return name;
}

}  // namespace ocirun::pods
