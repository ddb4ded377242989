#pragma once

#include <string>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// Makes sure that this process runs from a sealed copy of its executable, so that nothing inside a
/// container that reaches /proc/PID/exe finds the host's file behind it (runc CVE-2019-5736).
/// Returns when that is so, by a copy in memory or by the overlay of a kept copy that
/// sealed_entry.cpp makes before libc starts; else executes such a copy with the same arguments and
/// environment and does not return.
Result<void> reexec_sealed(char* const argv[]);

/// The directory that the host's executable lies in; "" if unknown. In the sealed copy it is known
/// after reexec_sealed().
std::string executable_directory();

}  // namespace ocirun::linux
