#include "linux/files/kernel_filesystems.hpp"

#include <linux/magic.h>

#include <algorithm>
#include <array>

namespace ocirun::linux {
namespace {

constexpr std::uint64_t kMqueueMagic = 0x19800202, kConfigfsMagic = 0x62656570,
                        kFusectlMagic = 0x65735543;
constexpr std::array<std::uint64_t, 16> kKernelFilesystems{
    PROC_SUPER_MAGIC,   SYSFS_MAGIC,    CGROUP_SUPER_MAGIC,   CGROUP2_SUPER_MAGIC,
    DEBUGFS_MAGIC,      TRACEFS_MAGIC,  SECURITYFS_MAGIC,     BPF_FS_MAGIC,
    DEVPTS_SUPER_MAGIC, BINFMTFS_MAGIC, RDTGROUP_SUPER_MAGIC, EFIVARFS_MAGIC,
    SELINUX_MAGIC,      kMqueueMagic,   kConfigfsMagic,       kFusectlMagic};

}  // namespace

bool is_kernel_filesystem(std::uint64_t magic) {
  return std::ranges::find(kKernelFilesystems, magic) != kKernelFilesystems.end();
}

}  // namespace ocirun::linux
