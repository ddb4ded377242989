#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace ocirun::linux::sys {

// System calls without glibc's wrappers, which would signal every thread to change its ids too;
// ocirun has one thread. On 32-bit architectures the plain names are the calls with 16-bit ids.
// Each returns 0, or -1 with errno.
#ifdef SYS_setresuid32
inline constexpr long kSetgroups = SYS_setgroups32, kSetresgid = SYS_setresgid32,
                      kSetresuid = SYS_setresuid32;
#else
inline constexpr long kSetgroups = SYS_setgroups, kSetresgid = SYS_setresgid,
                      kSetresuid = SYS_setresuid;
#endif

inline long setgroups(std::size_t count, const gid_t* groups) {
  return ::syscall(kSetgroups, count, groups);
}
/// Both set the real, the effective and the saved id.
inline long setresgid(gid_t id) { return ::syscall(kSetresgid, id, id, id); }
inline long setresuid(uid_t id) { return ::syscall(kSetresuid, id, id, id); }

}  // namespace ocirun::linux::sys
