#include <linux/capability.h>

#include <array>

#include "linux/process/capabilities.hpp"

namespace ocirun::linux {
namespace {

// Indexed by number. libcap has the same table, but with a constructor that would run at every
// start.
constexpr std::array<std::string_view, CAP_LAST_CAP + 1> kNames = {
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_DAC_READ_SEARCH",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_LINUX_IMMUTABLE",
    "CAP_NET_BIND_SERVICE",
    "CAP_NET_BROADCAST",
    "CAP_NET_ADMIN",
    "CAP_NET_RAW",
    "CAP_IPC_LOCK",
    "CAP_IPC_OWNER",
    "CAP_SYS_MODULE",
    "CAP_SYS_RAWIO",
    "CAP_SYS_CHROOT",
    "CAP_SYS_PTRACE",
    "CAP_SYS_PACCT",
    "CAP_SYS_ADMIN",
    "CAP_SYS_BOOT",
    "CAP_SYS_NICE",
    "CAP_SYS_RESOURCE",
    "CAP_SYS_TIME",
    "CAP_SYS_TTY_CONFIG",
    "CAP_MKNOD",
    "CAP_LEASE",
    "CAP_AUDIT_WRITE",
    "CAP_AUDIT_CONTROL",
    "CAP_SETFCAP",
    "CAP_MAC_OVERRIDE",
    "CAP_MAC_ADMIN",
    "CAP_SYSLOG",
    "CAP_WAKE_ALARM",
    "CAP_BLOCK_SUSPEND",
    "CAP_AUDIT_READ",
    "CAP_PERFMON",
    "CAP_BPF",
    "CAP_CHECKPOINT_RESTORE",
};
static_assert(kNames[CAP_SYS_ADMIN] == "CAP_SYS_ADMIN" && kNames[CAP_BPF] == "CAP_BPF" &&
              kNames[CAP_LAST_CAP] == "CAP_CHECKPOINT_RESTORE");

}  // namespace

std::optional<unsigned> capability_number(std::string_view name) {
  for (unsigned number = 0; number < kNames.size(); ++number)
    if (kNames[number] == name) return number;
  return std::nullopt;
}

std::string capability_name(unsigned capability) {
  if (capability < kNames.size()) return std::string(kNames[capability]);
  return fmt::format("capability {}", capability);
}

std::vector<std::string> capability_names() { return {kNames.begin(), kNames.end()}; }

}  // namespace ocirun::linux
