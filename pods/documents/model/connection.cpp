#include "pods/documents/model/connection.hpp"

namespace ocirun::pods {

std::string connection_variable(std::string_view parameter) {
  std::string name = "CONNECTION_";
  for (const char c : parameter) {
    const bool is_lower = c >= 'a' && c <= 'z';
    const bool is_kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += is_lower ? static_cast<char>(c - 'a' + 'A') : is_kept ? c : '_';
  }
  return name;
}

}  // namespace ocirun::pods
