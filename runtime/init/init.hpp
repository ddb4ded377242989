#pragma once

#include "linux/base/message_socket.hpp"
#include "runtime/protocol/plans.hpp"

namespace ocirun::runtime {

/// The life of a container's init from clone3 to execve. Never returns: no destructor of an object
/// of the parent, above all no rollback, may run in the child.
[[noreturn]] void init_main(InitPlan& plan, linux::MessageSocket parent) noexcept;

/// The process between parent and init where needs_stage() says so: joins and makes namespaces,
/// then clones init as its own sibling.
[[noreturn]] void stage_main(InitPlan& plan, linux::MessageSocket parent) noexcept;

/// The stage of `exec`: joins the cgroups, then the namespaces, and clones the process as its own
/// sibling. The mount namespace is joined before the clone into the pid namespace: otherwise a
/// process of the container could reach the host through /proc/PID/cwd of the new one
/// (CVE-2016-9962).
[[noreturn]] void exec_stage_main(const ExecPlan& plan, linux::MessageSocket parent) noexcept;

}  // namespace ocirun::runtime
