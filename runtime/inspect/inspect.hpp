#pragma once

#include "linux/base/error.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {

/// Compares a container with its document. Reads, and changes nothing. A fact that cannot be read
/// is a row of Verdict::kUnknown. What a file system of the container could delay is given up after
/// some seconds. Errors: the snapshot of config.json cannot be read; the container is another
/// user's; it has ended meanwhile.
Result<Inspection> inspect(const Container& container);

}  // namespace ocirun::runtime
