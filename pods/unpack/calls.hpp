#pragma once

#include <cstdint>

#include "linux/base/error.hpp"

namespace ocirun::pods {

/// What a process that reads an archive does besides: nothing, or filling a directory.
enum class ArchiveWork : std::uint8_t { kIndex, kUnpack };

/// Loads a filter that ends the process at any system call but those that the work takes. None of
/// them executes a file, maps executable memory, makes a process, a socket, a mount or a namespace,
/// or acts on another process. Opening a file by a path that begins at no descriptor is answered
/// with ENOENT: libc looks for its modules of character sets, which a layer may bring along. The
/// process must have no_new_privs. Errors: the kernel has no seccomp filters.
Result<void> allow_calls(ArchiveWork work);

}  // namespace ocirun::pods
