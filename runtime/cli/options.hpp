#pragma once

#include <array>

#include "runtime/checkpoint/options.hpp"
#include "runtime/cli/command.hpp"

namespace ocirun::runtime::cli {

// The options that several commands have.

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

// The options of `checkpoint` and `restore`. Only options with one help text for both have a name.

inline constexpr Option kImagePath{"image-path", 0, "DIR",
                                   "the directory of the images (default checkpoint)",
                                   Completes::kDirectory};
inline constexpr Option kWorkPath{"work-path", 0, "DIR",
                                  "the directory of criu's log (default: that of the images)",
                                  Completes::kDirectory};
inline constexpr Option kExtUnixSk{
    "ext-unix-sk", 0, {}, "allow connections to unix sockets outside"};
inline constexpr Option kShellJob{"shell-job", 0, {}, "allow a program on a terminal of the host"};
inline constexpr Option kManageCgroups{"manage-cgroups-mode", 0, kCgroupModes,
                                       "what criu does with cgroups (default soft)",
                                       Completes::kWords};
inline constexpr Option kAutoDedup{
    "auto-dedup", 0, {}, "remove pages from images that a later one has"};
inline constexpr std::string_view kNetworkLocks = "iptables|nftables|skip";
inline constexpr Option kNetworkLock{"network-lock", 0, kNetworkLocks,
                                     "how criu locks the network (default iptables)",
                                     Completes::kWords};
inline constexpr std::array kCheckpointOptions{
    kImagePath,
    kWorkPath,
    Option{"parent-path", 0, "DIR", "the images of the last pre-dump, relative to the new ones",
           Completes::kDirectory},
    Option{"leave-running", 0, {}, "let the container run on"},
    Option{"pre-dump", 0, {}, "save the memory alone, and let the container run on"},
    Option{"tcp-established", 0, {}, "save open TCP connections"},
    Option{"tcp-skip-in-flight", 0, {}, "leave out TCP connections that are being made"},
    Option{"link-remap", 0, {}, "save open files that were removed, by links beside them"},
    kExtUnixSk,
    kShellJob,
    Option{"file-locks", 0, {}, "save file locks"},
    Option{"lazy-pages", 0, {}, "send pages of memory when they are needed"},
    Option{"status-fd", 0, "N", "gets a zero byte when pages can be fetched"},
    Option{"page-server", 0, "ADDRESS:PORT", "send pages of memory to a criu page-server"},
    kManageCgroups,
    Option{"empty-ns", 0, "network", "the default: do not save what is in this namespace",
           Completes::kNothing, Times::kMany},
    Option{"keep-network", 0, {}, "save what is in the container's network namespace"},
    kAutoDedup,
    kNetworkLock};
inline constexpr std::array kRestoreOptions{
    Option{"bundle", 'b', "DIR", "the bundle (default: that of the stopped container, else .)",
           Completes::kDirectory},
    kImagePath,
    kWorkPath,
    kConsoleSocket,
    kPidFile,
    kDetach,
    Option{"preserve-fds", 0, "N",
           "only 0: restored processes have the descriptors of their images"},
    Option{"no-pivot", 0, {}, "accepted for runc's sake; criu enters the root"},
    kNoNewKeyring,
    kNoSubreaper,
    Option{"dry-run",
           0,
           {},
           "say whether images, config.json and this host fit together, and make nothing"},
    Option{"trust-images", 0, {}, "check neither the images nor what criu restores from them"},
    Option{"parent-path", 0, "DIR", "accepted for engines' sake; the images know their parent",
           Completes::kDirectory},
    Option{"tcp-established", 0, {}, "restore open TCP connections"},
    Option{"tcp-skip-in-flight", 0, {}, "leave out TCP connections that were being made"},
    Option{"link-remap", 0, {}, "restore open files that were removed, by links beside them"},
    kExtUnixSk,
    kShellJob,
    Option{"file-locks", 0, {}, "restore file locks"},
    Option{"lazy-pages", 0, {}, "get pages of memory when they are needed"},
    kManageCgroups,
    Option{"empty-ns", 0, "network", "the default: do not restore what is in this namespace",
           Completes::kNothing, Times::kMany},
    Option{"keep-network", 0, {}, "restore what is in the container's network namespace"},
    kAutoDedup,
    kNetworkLock,
    Option{"lsm-profile", 0, "TYPE:NAME", "another LSM profile, as in apparmor:NAME"},
    Option{"lsm-mount-context", 0, "CONTEXT", "another SELinux context of the mounts"}};

}  // namespace ocirun::runtime::cli
