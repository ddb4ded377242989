#include "pods/documents/security.hpp"

#include <cstring>

namespace ocirun::pods {

std::optional<int> find_errno(std::string_view name) {
  constexpr int kMost = 133;
  for (int number = 1; number <= kMost; ++number)
    if (const char* known = ::strerrorname_np(number); known != nullptr && name == known)
      return number;
  return std::nullopt;
}

}  // namespace ocirun::pods
