#pragma once

namespace ocirun::linux {

/// Notes where the kernel has put the words and the environment that this process was executed
/// with. For main(), before anything changes `environ`.
void remember_command_line(int argc, char** argv);

/// Overwrites these words and the environment in this process's memory: /proc/PID/cmdline is then
/// "ocirun: init", and /proc/PID/environ nothing but zeros. The kernel shows the first file to
/// every process of the pid namespace, and the second to any with CAP_PERFMON or CAP_SYS_ADMIN,
/// dumpable or not. So a process calls this before a container's pid namespace has it. Afterwards
/// it has no environment. Does nothing before remember_command_line().
void forget_caller();

}  // namespace ocirun::linux
