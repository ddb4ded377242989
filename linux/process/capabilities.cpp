#include "linux/process/capabilities.hpp"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "linux/base/ids.hpp"

namespace ocirun::linux {
namespace {

constexpr unsigned kCapabilityLimit = 64;  // bits that capset(2) takes

// Returns 1 if the bounding set has the capability, 0 if not, and -1 above the kernel's last
// capability. Does not need /proc/sys/kernel/cap_last_cap, which may be fake.
int read_bounding(unsigned capability) {
  return ::prctl(PR_CAPBSET_READ, static_cast<unsigned long>(capability), 0, 0, 0);
}

CapabilitySet both(CapabilitySet a, CapabilitySet b) {
  return CapabilitySet::from_bits(a.bits() & b.bits());
}

CapabilitySet either(CapabilitySet a, CapabilitySet b) {
  return CapabilitySet::from_bits(a.bits() | b.bits());
}

std::string names(CapabilitySet set) {
  std::string text;
  for (unsigned c = 0; c < kCapabilityLimit; ++c)
    if (set.has(c)) text += (text.empty() ? "" : ", ") + capability_name(c);
  return text;
}

CapabilitySet without(CapabilitySet set, CapabilitySet taken) {
  return CapabilitySet::from_bits(set.bits() & ~taken.bits());
}

std::string_view groups_advice(int error) {
  if (error == EPERM)
    return " (needs CAP_SETGID, in a user namespace whose gid map was written with it)";
  if (error == EINVAL) return " (each must be mapped by /linux/gidMappings, and at most 65536)";
  return "";
}

}  // namespace

Result<GrantableCapabilities> grantable_capabilities(CapabilitySet asked) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return fail(errno, "read the capabilities");
  GrantableCapabilities grantable;
  grantable.permitted =
      CapabilitySet::from_bits(data[0].permitted | std::uint64_t{data[1].permitted} << 32);
  for (unsigned c = 0; c < kCapabilityLimit; ++c)
    if (asked.has(c) && read_bounding(c) == 1) grantable.bounding.add(c);
  return grantable;
}

CapabilitySets limit_to_grantable(const CapabilitySets& wanted,
                                  const GrantableCapabilities& grantable) {
  CapabilitySets granted;
  granted.bounding = both(wanted.bounding, grantable.bounding);
  granted.permitted = both(wanted.permitted, grantable.permitted);
  granted.effective = both(wanted.effective, granted.permitted);
  // capset(2): an inheritable capability must have been permitted and, since Linux 2.6.25, be in
  // the bounding set.
  granted.inheritable = both(wanted.inheritable, both(grantable.permitted, granted.bounding));
  granted.ambient = both(wanted.ambient, both(granted.permitted, granted.inheritable));
  return granted;
}

UngrantedCapabilities find_ungranted(const CapabilitySets& wanted,
                                     const GrantableCapabilities& grantable) {
  const CapabilitySets granted = limit_to_grantable(wanted, grantable);
  UngrantedCapabilities lost;
  for (const CapabilitySet set :
       {wanted.permitted, wanted.effective, wanted.inheritable, wanted.ambient})
    lost.missing = either(lost.missing, without(set, grantable.permitted));
  lost.missing = either(lost.missing, without(wanted.bounding, grantable.bounding));
  lost.effective = without(without(wanted.effective, granted.effective), lost.missing);
  lost.inheritable = without(without(wanted.inheritable, granted.inheritable), lost.missing);
  lost.ambient = without(without(wanted.ambient, granted.ambient), lost.missing);
  return lost;
}

std::vector<std::string> describe_ungranted(const UngrantedCapabilities& ungranted,
                                            const UngrantedCapabilities& told) {
  std::vector<std::string> sentences;
  const auto describe = [&](CapabilitySet UngrantedCapabilities::* set, std::string_view pointer,
                            std::string_view reason) {
    const CapabilitySet untold = without(ungranted.*set, told.*set);
    if (!untold.empty())
      sentences.push_back(fmt::format("/process/capabilities{}: {} not granted: {}", pointer,
                                      names(untold), reason));
  };
  describe(&UngrantedCapabilities::missing, "", "missing among the runtime's own capabilities");
  describe(&UngrantedCapabilities::effective, "/effective", "must be permitted too");
  describe(&UngrantedCapabilities::inheritable, "/inheritable", "must be in the bounding set too");
  describe(&UngrantedCapabilities::ambient, "/ambient", "must be permitted and inheritable too");
  return sentences;
}

Result<void> drop_bounding_set(CapabilitySet keep) {
  for (unsigned c = 0; c < kCapabilityLimit; ++c) {
    if (keep.has(c)) continue;
    if (::prctl(PR_CAPBSET_DROP, static_cast<unsigned long>(c), 0, 0, 0) == 0) continue;
    const int error = errno;
    if (error == EINVAL) break;           // beyond the kernel's last capability
    if (read_bounding(c) == 0) continue;  // dropped already; only a drop needs CAP_SETPCAP
    return fail(error, "drop {} from the bounding set{}", capability_name(c),
                error == EPERM ? " (needs CAP_SETPCAP)" : "");
  }
  return {};
}

Result<void> set_groups(std::span<const Gid> groups) {
  std::vector<gid_t> ids;
  ids.reserve(groups.size());
  for (const Gid group : groups) ids.push_back(group.value());
  if (sys::setgroups(ids.size(), ids.data()) == 0) return {};
  const int error = errno;
  return fail(error, "/process/user/additionalGids: set {} groups{}", ids.size(),
              groups_advice(error));
}

Result<void> become_user(Uid uid, Gid gid) {
  // Without PR_SET_KEEPCAPS the kernel clears the permitted set when no uid of the process is 0 any
  // more.
  const bool may_lose_capabilities = uid.value() != 0;
  if (may_lose_capabilities && ::prctl(PR_SET_KEEPCAPS, 1UL, 0, 0, 0) != 0)
    return fail(errno, "keep capabilities");
  if (const auto id = gid.value(); sys::setresgid(id) != 0) {
    const int error = errno;
    return fail(error, "/process/user/gid: become group {}{}", id,
                error == EINVAL ? " (not mapped by /linux/gidMappings)" : "");
  }
  if (const auto id = uid.value(); sys::setresuid(id) != 0) {
    const int error = errno;
    return fail(error, "/process/user/uid: become user {}{}", id,
                error == EINVAL ? " (not mapped by /linux/uidMappings)" : "");
  }
  if (may_lose_capabilities && ::prctl(PR_SET_KEEPCAPS, 0UL, 0, 0, 0) != 0)
    return fail(errno, "clear PR_SET_KEEPCAPS");
  return {};
}

Result<void> set_capabilities(const CapabilitySets& sets) {
  // EINVAL: Linux before 4.3 has no ambient set.
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL)
    return fail(errno, "clear the ambient capabilities");

  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  for (unsigned word = 0; word < _LINUX_CAPABILITY_U32S_3; ++word) {
    const auto part = [word](CapabilitySet set) {
      return static_cast<std::uint32_t>(set.bits() >> (32 * word));
    };
    data[word] = {.effective = part(sets.effective),
                  .permitted = part(sets.permitted),
                  .inheritable = part(sets.inheritable)};
  }
  if (::syscall(SYS_capset, &header, data) != 0)
    return fail(errno, "set capabilities (permitted {})", names(sets.permitted));

  for (unsigned c = 0; c < kCapabilityLimit; ++c) {
    if (!sets.ambient.has(c)) continue;
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, static_cast<unsigned long>(c), 0, 0) != 0)
      return fail(errno, "raise the ambient capability {}", capability_name(c));
  }
  return {};
}

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
