#include "linux/seccomp/newer.hpp"

#include <linux/seccomp.h>
#include <seccomp.h>

#include <algorithm>
#include <cerrno>

#include "linux/seccomp/x32.hpp"

namespace ocirun::linux {
namespace {

// Numbers 512 to 547 are x32's variants of older calls; its newer calls have the common numbers.
constexpr std::uint32_t kX32OnlyFirst = 512;
constexpr std::uint32_t kX32OnlyLast = 547;
// From here on are ARM's private calls (set_tls ...), which do not grow with the kernel.
constexpr std::uint32_t kArmPrivate = 0x0F0000;

// Whether the default action refuses a system call in a way that a libc does not understand as
// "absent".
bool refuses(const SeccompProfile& profile) {
  switch (profile.default_action) {
    case SeccompAction::kKillThread:
    case SeccompAction::kKillProcess:
    case SeccompAction::kTrap:
      return true;
    case SeccompAction::kErrno:
      return profile.default_errno_ret.value_or(EPERM) != ENOSYS;
    case SeccompAction::kTrace:   // a tracer can handle a new call itself
    case SeccompAction::kNotify:  // and so can a listener
    case SeccompAction::kAllow:
    case SeccompAction::kLog:
      return false;
  }
  return false;
}

// The end of the numbers on `architecture` that the kernel assigns in order.
std::uint32_t table_end(std::uint32_t architecture) {
  if (architecture == SCMP_ARCH_X32) return kX32Bit | kX32OnlyFirst;
  if (architecture == SCMP_ARCH_ARM) return kArmPrivate;
  return kX32Bit;
}

}  // namespace

std::vector<Interval> newer_syscalls(const SeccompProfile& profile, std::uint32_t architecture,
                                     std::span<const Interval> named) {
  std::vector<Interval> newer;
  if (!refuses(profile)) return newer;
  const std::uint32_t end = table_end(architecture);
  const auto beyond = std::ranges::lower_bound(named, end, {}, &Interval::first);
  if (beyond == named.begin()) return newer;  // the age of the profile is unknown
  // At least seccomp(2), Linux 3.17: a short allow list denies older calls on purpose.
  const int seccomp = ::seccomp_syscall_resolve_name_arch(architecture, "seccomp");
  const std::uint32_t greatest =
      std::max(std::prev(beyond)->last, seccomp < 0 ? 0U : static_cast<std::uint32_t>(seccomp));
  const Decision absent = always(SECCOMP_RET_ERRNO | ENOSYS);
  if (greatest + 1 < end) newer.push_back({greatest + 1, end - 1, absent});
  if (architecture == SCMP_ARCH_X32)
    newer.push_back({kX32Bit | (kX32OnlyLast + 1), 0x7FFFFFFF, absent});
  return newer;
}

}  // namespace ocirun::linux
