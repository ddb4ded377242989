#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "linux/base/error.hpp"

namespace ocirun {

/// A user or group id, 0 to 4294967294. An Id cannot hold 2^32-1, which means "unchanged" to
/// setresuid(2).
template <typename Tag>
class Id {
 public:
  static constexpr std::uint32_t kUnchanged = 0xFFFFFFFF;

  constexpr Id() = default;  // root
  /// Errors: EINVAL for 2^32-1.
  static Result<Id> make(std::uint64_t value) {
    if (value >= kUnchanged)
      return fail(EINVAL, "{} id {}: must be a number from 0 to 4294967294", Tag::kName, value);
    Id id;
    id.value_ = static_cast<std::uint32_t>(value);
    return id;
  }
  /// The whole text has to be decimal digits: no sign, no space, no name (crun CVE-2026-30892).
  static Result<Id> parse(std::string_view text);

  constexpr std::uint32_t value() const { return value_; }
  friend constexpr bool operator==(Id, Id) = default;

 private:
  std::uint32_t value_ = 0;
};

struct UidTag {
  static constexpr const char* kName = "user";
};
struct GidTag {
  static constexpr const char* kName = "group";
};
using Uid = Id<UidTag>;
using Gid = Id<GidTag>;

}  // namespace ocirun

namespace ocirun::linux::sys {

// System calls without glibc's wrappers, which would signal every thread to change its ids too: a
// process of ocirun that changes its ids has one thread. On 32-bit architectures the plain names
// are the calls with 16-bit ids. Each returns 0, or -1 with errno.
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
/// setresgid() and setresuid() set the real, the effective and the saved id.
inline long setresgid(gid_t id) { return ::syscall(kSetresgid, id, id, id); }
inline long setresuid(uid_t id) { return ::syscall(kSetresuid, id, id, id); }

}  // namespace ocirun::linux::sys
