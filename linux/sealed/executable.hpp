#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// Makes sure that this process runs from a sealed copy of its executable, so that a container that
/// reaches /proc/PID/exe does not find the host's file behind it (runc CVE-2019-5736). Returns if
/// the process runs from such a copy already: a copy in memory or in a tmpfs that is mounted
/// nowhere, or a kept image that entry.cpp has mapped or executed. Otherwise executes a copy with
/// the same arguments and environment, and does not return. The error names each place of a copy,
/// and why no copy there can run.
Result<void> reexec_sealed(char* const argv[]);

/// Which copy this build runs from: "overlay" (a kept image, by entry.cpp), or "memory" in builds
/// without entry.cpp.
std::string_view way_of_sealed_execution();

/// A copy of the program behind `executable` that nobody can change, for fexecve(3): in memory, or
/// where no file in memory may be executed (sysctl vm.memfd_noexec, a seccomp filter), in a tmpfs
/// that is mounted nowhere. The error names both.
Result<UniqueFd> copy_sealed(Fd executable);

/// The directory of the host's executable; "" if unknown. A process that leaves its mount namespace
/// has to call this before, because afterwards the kernel may no longer know the path. The first
/// answer is remembered.
std::string executable_directory();

}  // namespace ocirun::linux
