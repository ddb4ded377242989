#pragma once

#include <sys/syscall.h>

#include <vector>

/// The system calls of the mount API of Linux 5.2, which older kernels lack.
inline const std::vector<long> kMountApi = {SYS_fsopen,       SYS_fsconfig,  SYS_fsmount,
                                            SYS_fspick,       SYS_open_tree, SYS_move_mount,
                                            SYS_mount_setattr};
