#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linux/seccomp/decision.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {

/// The system call numbers of `architecture` (SCMP_ARCH_*) that are newer than the profile; the
/// filter answers ENOSYS to them (S-11). The profile's author could not list such calls. A newer
/// libc tries newer calls and falls back to older ones on ENOSYS, but not on the EPERM (or the
/// kill) of a default action: glibc's clone3 and faccessat2 broke programs in this way.
///
/// Newer are the numbers above the greatest number in `named`, which are the profile's calls there,
/// and above seccomp(2), as far as the kernel assigns numbers in order. Empty when the profile
/// names no call, and when the default action lets system calls through or returns ENOSYS itself.
std::vector<Interval> newer_syscalls(const SeccompProfile& profile, std::uint32_t architecture,
                                     std::span<const Interval> named);

}  // namespace ocirun::linux
