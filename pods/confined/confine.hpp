#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::pods {

/// Takes from the calling process all capabilities, those too that executing a program as root
/// would give, and the way to get any by a set-user-id program.
Result<void> give_up_privileges();

/// Mounts an empty read-only file system on the directory `place`, and makes it the root of the
/// calling process, which must have a mount namespace of its own.
Result<void> enter_empty_root(const std::string& place);

/// What a program of ocirun's keeps while it reads what strangers have written.
struct Remains {
  Fd caller;            // a pipe that only the caller reads: the process ends with the caller
  int last_descriptor;  // later descriptors are closed
  std::uint64_t file_bytes = 0;  // no file that the process writes is larger
  std::uint64_t memory;          // bytes, besides what the process has already
};

/// Gives up everything but the descriptors 0 to `last_descriptor`: the root is empty, the user and
/// the group become 65534, there are no capabilities, no new privileges, no core dumps and no
/// tracers. Without the right to make a mount namespace, the root has nothing but numbers of
/// descriptors; without the right to become 65534, or in a user namespace without this id, the
/// process stays who it is. From now on it is killed when its caller ends. It must have one thread.
Result<void> confine_to_descriptors(const Remains& remains);

/// The last steps alone, for a process with another root: capabilities but `wanted` are given up,
/// and the user becomes 65534 if none is wanted. `memory`: bytes that the process may have
/// altogether.
Result<void> confine_process(linux::CapabilitySet wanted, std::uint64_t memory, Fd caller);

/// The size of the process's memory in bytes; 1 GiB where that cannot be found out.
std::uint64_t own_memory();

/// Makes a mount namespace of the process's own, from which no mount reaches the caller's.
Result<void> leave_mount_namespace();
/// Makes a directory the root and the working directory.
Result<void> change_root(Fd directory);

/// Whether `error` says that new namespaces cannot be had: without the rights, before Linux 5.3, in
/// a kernel without one of them, or above a limit of /proc/sys/user. The other walls must do then.
bool are_namespaces_refused(const Error& error);

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
