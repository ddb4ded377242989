#pragma once

#include <array>

#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {

// The options that several commands have, and those of `update`.

inline constexpr Option kBundle{"bundle", 'b', "DIR",
                                "the bundle: config.json and the root filesystem (default .)",
                                Completes::kDirectory};
inline constexpr Option kConsoleSocket{
    "console-socket", 0, "PATH", "the AF_UNIX socket that gets the terminal", Completes::kFile};
inline constexpr Option kPidFile{"pid-file", 0, "FILE", "write the process's number to FILE",
                                 Completes::kFile};
inline constexpr Option kPidfdSocket{"pidfd-socket", 0, "PATH",
                                     "the AF_UNIX socket that gets a pidfd of the process",
                                     Completes::kFile};
inline constexpr Option kPreserveFds{"preserve-fds", 0, "N",
                                     "pass descriptors 3 to 3+N-1 on to the container"};
inline constexpr Option kNoPivot{
    "no-pivot", 0, {}, "use MS_MOVE and chroot instead of pivot_root, for a root on a ramdisk"};
inline constexpr Option kNoNewKeyring{"no-new-keyring", 0, {}, "keep the caller's session keyring"};
inline constexpr Option kNoSubreaper{
    "no-subreaper", 0, {}, "accepted for runc's sake; ocirun never is a subreaper"};
inline constexpr Option kPinNamespaces{"pin-namespaces", 0, "DIR",
                                       "keep the namespaces, as files of DIR, until `delete`",
                                       Completes::kDirectory};
inline constexpr Option kTrace{"trace", 0, "FILE",
                               "write a timeline of what took how long to FILE, for `trace`",
                               Completes::kFile};
inline constexpr Option kDetach{"detach", 'd', {}, "return when the program runs"};

inline constexpr std::array kUpdateOptions{
    Option{"resources", 'r', "FILE",
           "linux.resources as JSON; - is standard input; options given beside it win",
           Completes::kFile},
    Option{"blkio-weight", 0, "WEIGHT", "10 to 1000"},
    Option{"cpu-period", 0, "USEC", "the period of the quota"},
    Option{"cpu-quota", 0, "USEC", "CPU time in each period; -1 is unlimited"},
    Option{"cpu-burst", 0, "USEC", "unused CPU time that later periods may use"},
    Option{"cpu-share", 0, "SHARES", "weight against other containers (default 1024)"},
    Option{"cpu-rt-period", 0, "USEC", "the period of the real-time runtime"},
    Option{"cpu-rt-runtime", 0, "USEC", "real-time CPU time in each period"},
    Option{"cpuset-cpus", 0, "LIST", "CPUs, as in 0-3,7"},
    Option{"cpuset-mems", 0, "LIST", "memory nodes"},
    Option{"cpu-idle", 0, "0|1", "1: runs only when no other process wants the CPU",
           Completes::kWords},
    Option{"memory", 0, "SIZE", "bytes, or with k, m, g; -1 is unlimited"},
    Option{"memory-reservation", 0, "SIZE",
           "memory that the container keeps when the host runs short"},
    Option{"memory-swap", 0, "SIZE", "memory and swap together; -1 is unlimited"},
    Option{"kernel-memory", 0, "SIZE", "obsolete: a warning where the kernel has no such limit"},
    Option{"kernel-memory-tcp", 0, "SIZE", "obsolete, as --kernel-memory: TCP buffers"},
    Option{"pids-limit", 0, "N", "processes and threads; -1 is unlimited"},
    Option{"l3-cache-schema", 0, "SCHEMA", "Intel RDT: \"L3:0=7f0;1=1f\""},
    Option{"mem-bw-schema", 0, "SCHEMA", "Intel RDT: \"MB:0=20;1=70\""},
    Option{"device-add", 0, "HOST[:PATH[:rwm]]", "give the container a device of the host",
           Completes::kFile, Times::kMany},
    Option{"device-remove", 0, "HOST[:PATH]", "take a device from the container", Completes::kFile,
           Times::kMany},
};

}  // namespace ocirun::runtime::cli
