#include "pods/model/security.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "linux/base/name_table.hpp"

namespace ocirun::pods {

std::optional<int> find_errno(std::string_view name) {
  // POSIX and Linux have two names for these; strerrorname_np(3) knows one for each number.
  static constexpr linux::Named<int> kSecondNames[] = {
      {"EDEADLOCK", EDEADLOCK}, {"ENOTSUP", ENOTSUP}, {"EWOULDBLOCK", EWOULDBLOCK}};
  if (const auto number = linux::value_of(kSecondNames, name)) return number;
  constexpr int kMost = 4095;  // of a system call
  for (int number = 1; number <= kMost; ++number)
    if (const char* known = ::strerrorname_np(number); known != nullptr && name == known)
      return number;
  return std::nullopt;
}

}  // namespace ocirun::pods
