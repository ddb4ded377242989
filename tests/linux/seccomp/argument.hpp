#pragma once

#include <cstdint>

#include "linux/seccomp/filter.hpp"

/// A condition of a rule: the argument `index` of the system call compared with `value`.
inline ocirun::linux::SeccompArgument argument(std::uint32_t index,
                                               ocirun::linux::SeccompOperator op,
                                               std::uint64_t value, std::uint64_t value_two = 0) {
  return {.index = index, .value = value, .value_two = value_two, .op = op};
}
