#pragma once

#include <cerrno>
#include <new>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// Reserves some memory. When an allocation fails, the reserve is freed and std::bad_alloc is
/// thrown, so that there is memory to undo what was begun and to report the error.
void reserve_memory();

/// Runs a step that returns a Result. Additional error: ENOMEM, when memory is short (RLIMIT_AS,
/// RLIMIT_DATA, no overcommit).
template <typename Step>
auto within_memory(Step step) -> decltype(step()) {
  try {
    return step();
  } catch (const std::bad_alloc&) {
    return fail(ENOMEM, "memory for ocirun itself");
  }
}

}  // namespace ocirun::linux
