#pragma once

#include "linux/base/message_socket.hpp"
#include "runtime/protocol/init_plan.hpp"

namespace ocirun::runtime {

/// The life of a container's first process from clone3 to execve. Never returns: no destructor of
/// the parent's, least of all a rollback, runs in the child.
[[noreturn]] void init_main(InitPlan& plan, linux::MessageSocket parent) noexcept;

/// The intermediate process of needs_stage(): joins and makes namespaces, then clones init as its
/// own sibling.
[[noreturn]] void stage_main(InitPlan& plan, linux::MessageSocket parent) noexcept;

}  // namespace ocirun::runtime
