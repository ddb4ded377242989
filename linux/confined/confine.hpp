#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {

/// Drops all capabilities of the calling process, also from the bounding set, and sets
/// no_new_privs, so that no executed program gets any back.
Result<void> give_up_privileges();

/// Mounts an empty read-only file system on the directory `place`, and makes it the root of the
/// calling process, which must have a mount namespace of its own.
Result<void> enter_empty_root(const std::string& place);

/// What a program of ocirun keeps while it reads untrusted input.
struct Confinement {
  Fd caller;            // a pipe that only the caller reads: the process ends with the caller
  int last_descriptor;  // descriptors with larger numbers are closed
  std::uint64_t file_bytes = 0;  // the largest file that the process may write
  std::uint64_t memory;          // bytes that the process may take beyond its present size
};

/// Confines the process to the descriptors 0 to `last_descriptor`. The process gets an empty root
/// and the user and group 65534. It has no capabilities, no new privileges, no core dumps and no
/// tracers. It is killed when its caller ends. Without the right to make a mount namespace, the
/// root has only the numbers of the process's descriptors. Without the right to become 65534, or in
/// a user namespace without this id, the process keeps its user. The process must have a single
/// thread.
Result<void> confine_to_descriptors(const Confinement& confinement);

/// Does the last steps of confine_to_descriptors(), for a process with a root of its own. Drops all
/// capabilities except `wanted`; the user becomes 65534 if `wanted` is empty. `memory`: how many
/// bytes the process may have altogether. `caller` as in Confinement.
Result<void> confine_process(CapabilitySet wanted, std::uint64_t memory, Fd caller);

/// The size of the process's memory in bytes; 1 GiB if the size is not known.
std::uint64_t own_memory();

/// Moves the process to a mount namespace of its own. Mounts that the process makes from then on do
/// not appear in the mount namespace that it has left.
Result<void> leave_mount_namespace();
/// Makes `directory` the root and the working directory of the process.
Result<void> change_root(Fd directory);

/// Whether `error` says that the process cannot make namespaces: it lacks the rights, the kernel is
/// older than 5.3 or lacks a kind of namespace, or a limit of /proc/sys/user is reached. The other
/// confinements must suffice then.
bool are_namespaces_refused(const Error& error);

/// The base of a filter for a program that reads untrusted input. It allows the calls that libc
/// itself needs, and those that read and write open descriptors; any other call ends the process.
/// No allowed call opens or executes a file, maps executable memory, makes a process, a socket, a
/// mount or a namespace, or acts on another process.
SeccompProfile least_calls();

/// Allows more calls. `names` may have all names of a call: each architecture has one or two of
/// them.
void allow(SeccompProfile& profile, std::vector<std::string> names,
           std::vector<SeccompArgument> arguments = {});
/// Adds calls that fail with the errno `error` instead of ending the process.
void answer(SeccompProfile& profile, int error, std::vector<std::string> names,
            std::vector<SeccompArgument> arguments = {});

/// Allows fcntl(2) for the flags and copies of descriptors, but not for signals and leases.
void allow_descriptor_flags(SeccompProfile& profile);

/// The condition that the bits of an argument in `mask` equal `value`.
SeccompArgument bits(std::uint32_t index, std::uint64_t mask, std::uint64_t value);
/// The condition that the lower 32 bits of an argument equal `value`.
SeccompArgument equals(std::uint32_t index, std::uint64_t value);

/// Loads a filter until the process ends. The process must have no_new_privs. Errors: the kernel
/// has no seccomp filters.
Result<void> load_calls(const SeccompProfile& profile);

}  // namespace ocirun::linux
