#pragma once

#include <cstdint>

namespace ocirun::test {

/// What an act has done, counted and not timed: the same in each run, on each machine.
struct Work {
  std::uint64_t comparisons =
      0;  // of numbers, in code that is instrumented (-fsanitize-coverage=trace-cmp)
  std::uint64_t bytes = 0;  // that were allocated
};

/// The work of this process since its start.
Work work_so_far();

/// The work of `act`.
template <typename Act>
Work work_of(Act act) {
  const Work before = work_so_far();
  act();
  const Work after = work_so_far();
  return {.comparisons = after.comparisons - before.comparisons,
          .bytes = after.bytes - before.bytes};
}

}  // namespace ocirun::test
