#pragma once

#include <fcntl.h>

#include <bitset>
#include <string>

namespace ocirun::test {

inline constexpr int kDescriptors = 1024;
using Descriptors = std::bitset<kDescriptors>;

/// The numbers that are open. Without /proc, which a child may not have.
inline Descriptors open_descriptors() {
  Descriptors open;
  for (int number = 0; number < kDescriptors; ++number)
    open[static_cast<std::size_t>(number)] = ::fcntl(number, F_GETFD) >= 0;
  return open;
}

/// What was open when the child of run_in_child began.
inline Descriptors& childs_own_descriptors() {
  static Descriptors open;
  return open;
}
/// In such a child: what is open now belongs to the process until it ends, as a log does.
inline void keep_descriptors() { childs_own_descriptors() = open_descriptors(); }

/// The numbers that a test has left open: " 7 8", or "".
inline std::string leaked_since(const Descriptors& before) {
  const Descriptors leaked = open_descriptors() & ~before;
  std::string numbers;
  for (std::size_t number = 0; number < leaked.size(); ++number)
    if (leaked[number]) numbers += ' ' + std::to_string(number);
  return numbers;
}

}  // namespace ocirun::test
