#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {

/// The filter of one architecture (SCMP_ARCH_*), which kills on a token that is not its own.
struct ArchitectureProgram {
  std::uint32_t architecture = 0;
  std::vector<sock_filter> program;
};

/// System call numbers of one architecture that get ENOSYS, first and last included.
struct NewerSyscalls {
  std::uint32_t architecture = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Which numbers are newer than `profile` on each of `architectures`: those above the greatest that
/// the profile names there, and above seccomp(2), as far as the kernel hands out numbers in order.
/// Empty when the default
/// action lets a system call through, or says ENOSYS itself (S-11).
std::vector<NewerSyscalls> newer_syscalls(const SeccompProfile& profile,
                                          std::span<const std::uint32_t> architectures);

/// One filter out of several: answers ENOSYS for `newer` and leaves all else to the program of the
/// architecture; the first program kills for an architecture that has none.
std::vector<sock_filter> assemble_seccomp(std::span<const ArchitectureProgram> programs,
                                          std::span<const NewerSyscalls> newer);

}  // namespace ocirun::linux
