#pragma once

#include "linux/error.hpp"
#include "linux/paths.hpp"
#include "linux/unique_fd.hpp"

namespace ocirun::runtime {

enum class MissingRoot { kIsCreated, kIsAnError, kIsEmpty };

/// Opens the directory of all containers, which must belong to the effective user (root may work on
/// another's, as Slurm does) and be writable by nobody else. Empty where it is missing and that
/// kIsEmpty. Errors name the path and what to do.
Result<UniqueFd> open_state_root(const HostPath& root, MissingRoot missing);

}  // namespace ocirun::runtime
