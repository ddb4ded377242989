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

}  // namespace ocirun::runtime
