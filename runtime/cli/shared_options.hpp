#pragma once

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

}  // namespace ocirun::runtime::cli
