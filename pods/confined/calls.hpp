#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linux/seccomp/filter.hpp"

namespace ocirun::pods {

/// A filter for a program that reads what strangers have written. It ends the process at any system
/// call but those of libc's own, and those that read and write open descriptors: none of them opens
/// or executes a file, maps executable memory, makes a process, a socket, a mount or a namespace,
/// or acts on another process.
linux::SeccompProfile least_calls();

/// Adds what a program needs besides. Of a call that exists under several names, an architecture
/// has one or two.
void allow(linux::SeccompProfile& profile, std::vector<std::string> names,
           std::vector<linux::SeccompArgument> arguments = {});
/// Adds calls that fail instead, by this errno.
void answer(linux::SeccompProfile& profile, int error, std::vector<std::string> names,
            std::vector<linux::SeccompArgument> arguments = {});

/// Adds fcntl(2) with the flags and copies of descriptors, and without its signals and leases.
void allow_descriptor_flags(linux::SeccompProfile& profile);

/// An argument that has, of the bits in `mask`, those of `value`.
linux::SeccompArgument bits(std::uint32_t index, std::uint64_t mask, std::uint64_t value);
/// An argument of 32 bits.
linux::SeccompArgument equals(std::uint32_t index, std::uint64_t value);

/// Loads a filter for the rest of the process's life. The process must have no_new_privs. Errors:
/// the kernel has no seccomp filters.
Result<void> load_calls(const linux::SeccompProfile& profile);

}  // namespace ocirun::pods
