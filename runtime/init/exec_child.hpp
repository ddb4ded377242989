#pragma once

#include "linux/base/message_socket.hpp"
#include "runtime/protocol/plans.hpp"

namespace ocirun::runtime {

/// The stage of `exec`: joins the cgroups, then the namespaces, and clones the process as its own
/// sibling. The mount namespace is joined before the clone into the pid namespace: otherwise a
/// process of the container could reach the host through /proc/PID/cwd of the new one
/// (CVE-2016-9962).
[[noreturn]] void exec_stage_main(const ExecPlan& plan, linux::MessageSocket parent) noexcept;

}  // namespace ocirun::runtime
