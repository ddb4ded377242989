#pragma once

#include <array>

#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {

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
