#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {

/// The filter for one architecture (SCMP_ARCH_*). It kills on any other architecture token.
struct ArchitectureProgram {
  std::uint32_t architecture = 0;
  std::vector<sock_filter> program;
};

/// The system call numbers of one architecture that get ENOSYS, from `first` to `last` inclusive.
struct NewerSyscalls {
  std::uint32_t architecture = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// The system calls that are newer than `profile`, on each of `architectures`: the numbers above
/// the greatest one that the profile names there, and above seccomp(2), as far as the kernel
/// assigns numbers in order. Empty when the default action lets system calls through, or returns
/// ENOSYS itself (S-11).
std::vector<NewerSyscalls> newer_syscalls(const SeccompProfile& profile,
                                          std::span<const std::uint32_t> architectures);

/// Combines the filters of several architectures into one. It answers ENOSYS for `newer` and
/// otherwise jumps to the program of the call's architecture. A call of an architecture without a
/// program goes to the first program, which kills.
std::vector<sock_filter> assemble_seccomp(std::span<const ArchitectureProgram> programs,
                                          std::span<const NewerSyscalls> newer);

}  // namespace ocirun::linux
