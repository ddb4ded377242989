#pragma once

#include <cerrno>
#include <new>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// Lays some memory by. When there is no more to be had it is given back, so that what was begun
/// can still be undone and told, and std::bad_alloc is thrown.
void reserve_memory();

/// Runs a step that returns a Result. Errors: also ENOMEM, when memory is short (RLIMIT_AS,
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
