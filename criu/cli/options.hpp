#pragma once

#include <array>

#include "criu/request/options.hpp"
#include "runtime/cli/options.hpp"

namespace ocirun::runtime::cli {

// The options of `checkpoint` and `restore`. An option is a constant of its own only if both
// commands have it with the same help text.

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
    kTrace,
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
