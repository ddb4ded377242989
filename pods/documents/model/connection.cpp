#include "pods/documents/model/connection.hpp"

#include "linux/base/letters.hpp"

namespace ocirun::pods {

std::string connection_variable(std::string_view parameter) {
  std::string name = "CONNECTION_";
  for (const char c : parameter) {
    const bool is_lower = linux::is_lower(c);
    const bool is_kept = (c >= 'A' && c <= 'Z') || linux::is_digit(c);
    name += is_lower ? static_cast<char>(c - 'a' + 'A') : is_kept ? c : '_';
  }
  return name;
}

}  // namespace ocirun::pods
