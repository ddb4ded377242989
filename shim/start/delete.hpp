#pragma once

#include "linux/base/error.hpp"
#include "shim/start/arguments.hpp"

namespace ocirun::shim {

/// `delete`: kills what is left of a container and deletes it, unmounts the `rootfs` of its bundle,
/// removes the socket of a server that was killed, and prints a DeleteResponse with the status of
/// SIGKILL. containerd executes this after the end of every task, also of one that was deleted by
/// the server's call Delete, and gives it five seconds; the runtime is killed after four. Succeeds
/// if nothing is left. After an error of the runtime the rootfs is unmounted all the same.
Result<void> delete_container(const Arguments& arguments);

}  // namespace ocirun::shim
