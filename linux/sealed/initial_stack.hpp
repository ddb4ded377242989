#pragma once

namespace ocirun::linux {

/// What the kernel has put on the stack for a new program: argc, the arguments, NULL, the
/// environment, NULL.
struct InitialStack {
  const long* top;
  long argc;
  const char* const* argv;
  const char* const* environment;
};

// Internal linkage: see system_call.hpp.
static inline InitialStack read_stack(const long* top) {
  const auto* const argv = reinterpret_cast<const char* const*>(top + 1);
  return {.top = top, .argc = *top, .argv = argv, .environment = argv + *top + 1};
}

}  // namespace ocirun::linux
