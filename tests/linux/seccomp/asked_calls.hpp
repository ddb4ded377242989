#pragma once

// Which system calls a test asks a filter about.

#include <cstdint>
#include <set>
#include <vector>

#include "linux/seccomp/decision.hpp"
#include "linux/seccomp/filter.hpp"
#include "linux/seccomp/program.hpp"

namespace ocirun::test {

/// Values at and around each bound of the profile's conditions, and the codes of socketcall and
/// ipc.
inline std::vector<std::uint64_t> interesting_values(const linux::SeccompProfile& profile) {
  std::set<std::uint64_t> values{0,          1,           2,       3,       21,
                                 0xFFFFFFFF, 0x100000000, 0x10001, 0x10015, ~std::uint64_t{0}};
  for (const linux::SeccompRule& rule : profile.rules)
    for (const linux::SeccompArgument& argument : rule.arguments)
      for (const std::uint64_t bound :
           {argument.value, argument.value_two, argument.value & argument.value_two,
            (argument.value_two & argument.value) | ~argument.value})
        for (const std::uint64_t value :
             {bound, bound - 1, bound + 1, bound ^ (std::uint64_t{1} << 32U), bound & 0xFFFFFFFF,
              bound + (std::uint64_t{1} << 32U), bound - (std::uint64_t{1} << 32U)})
          values.insert(value);
  return {values.begin(), values.end()};
}

/// The system call numbers to ask for: those that the profile names and their neighbours, the ends
/// of the numbers' ranges, and up to `all_below` every number.
inline std::set<std::uint32_t> interesting_numbers(const std::vector<linux::Interval>& named,
                                                   std::uint32_t all_below) {
  std::set<std::uint32_t> numbers;
  for (const std::uint32_t base : {0U, linux::kX32Bit, 0x80000000U, 0xF0000U})
    for (std::uint32_t i = 0; i < 5; ++i) numbers.insert(base + i - 2);
  for (std::uint32_t number = 0; number < all_below; ++number) {
    numbers.insert(number);
    numbers.insert(linux::kX32Bit | number);
  }
  for (const linux::Interval& interval : named)
    for (std::uint32_t i = 0; i < 3; ++i) numbers.insert(interval.first + i - 1);
  return numbers;
}

}  // namespace ocirun::test
