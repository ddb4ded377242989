#pragma once

#include <cstdint>
#include <string>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/capabilities.hpp"

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

}  // namespace ocirun::pods
