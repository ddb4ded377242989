#pragma once

#include <fcntl.h>

#include <bitset>
#include <string>

namespace ocirun::test {

inline constexpr int kDescriptors = 1024;
using Descriptors = std::bitset<kDescriptors>;

/// The descriptors of this process that are open. Does not read /proc, which a child may not have.
inline Descriptors open_descriptors() {
  Descriptors open;
  for (int number = 0; number < kDescriptors; ++number)
    open[static_cast<std::size_t>(number)] = ::fcntl(number, F_GETFD) >= 0;
  return open;
}

/// The descriptors that were open when the child of run_in_child() began. Descriptors beyond these
/// count as leaked at its end.
inline Descriptors& childs_own_descriptors() {
  static Descriptors open;
  return open;
}
/// Called in a child of run_in_child(): descriptors that are open now may stay open until the child
/// ends, for instance that of a log.
inline void keep_descriptors() { childs_own_descriptors() = open_descriptors(); }

/// The descriptors that are open now and were not in `before`: " 7 8", or "".
inline std::string leaked_since(const Descriptors& before) {
  const Descriptors leaked = open_descriptors() & ~before;
  std::string numbers;
  for (std::size_t number = 0; number < leaked.size(); ++number)
    if (leaked[number]) numbers += ' ' + std::to_string(number);
  return numbers;
}

}  // namespace ocirun::test
