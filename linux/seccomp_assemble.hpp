#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <vector>

#include "linux/seccomp.hpp"

namespace ocirun::linux {

/// System call numbers of one architecture that get ENOSYS, first and last included.
struct NewerSyscalls {
  std::uint32_t audit_arch = 0;  // what seccomp_data.arch says: x32 has the token of x86-64
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// Which numbers are newer than `profile` on each of `architectures` (SCMP_ARCH_*): those above the
/// greatest that the profile names there, as far as the kernel hands out numbers in order. Empty
/// when the default action lets a system call through anyway (S-11).
std::vector<NewerSyscalls> newer_syscalls(const SeccompProfile& profile,
                                          std::span<const std::uint32_t> architectures);

/// `program` with instructions in front that answer ENOSYS for `newer` and leave every other system
/// call to it.
std::vector<sock_filter> with_enosys(std::span<const NewerSyscalls> newer,
                                     std::vector<sock_filter> program);

}  // namespace ocirun::linux
