#pragma once

#include "linux/base/message_socket.hpp"
#include "runtime/protocol/exec_plan.hpp"

namespace ocirun::runtime {

/// The stage: cgroups, then namespaces – the mount namespace before the fork into the pid
/// namespace, so that nobody in there finds the host behind /proc/PID/cwd of the new process
/// (CVE-2016-9962) – then the process itself as a sibling.
[[noreturn]] void exec_stage_main(const ExecPlan& plan, linux::MessageSocket parent) noexcept;

}  // namespace ocirun::runtime
