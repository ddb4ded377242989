#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "linux/base/error.hpp"
#include "pods/images/layer.hpp"

namespace ocirun::pods {

/// What a process that reads an archive does besides: nothing, or filling a directory.
enum class ArchiveWork : std::uint8_t { kIndex, kUnpack };

/// Loads a filter that ends the process at any system call but those that the work takes. None of
/// them executes a file, maps executable memory, makes a process, a socket, a mount or a namespace,
/// or acts on another process. Opening a file by a path that begins at no descriptor is answered
/// with ENOENT: libc looks for its modules of character sets, which a layer may bring along. The
/// process must have no_new_privs. Errors: the kernel has no seccomp filters.
Result<void> allow_calls(ArchiveWork work);

/// The directories of a process that unpacks a layer.
struct LayerPlaces {
  Fd into;
  std::optional<Fd> below;  // of the layers of the store, with those below
};

/// Gives up what unpacking a layer does not need: descriptors but `report`, `keep` and those of
/// `places`, all capabilities but a few, core dumps and most memory. Where the process may make a
/// mount namespace, it sees nothing but `places.into` and, read-only, `places.below`, which become
/// other descriptors. From now on the process is killed when its caller ends, who alone reads the
/// pipe `report`.
Result<void> confine_to(LayerPlaces& places, OpaqueMark mark, Fd report, std::span<const Fd> keep);

}  // namespace ocirun::pods
