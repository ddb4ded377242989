#include "linux/process/keyring.hpp"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace ocirun::linux {
namespace {

constexpr unsigned kPossessorAll = 0x3F000000;  // keyctl_setperm(3): KEY_POS_ALL

}  // namespace

Result<void> join_session_keyring() {
  const long keyring = ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, nullptr);
  if (keyring < 0) {
    const int error = errno;
    if (error == ENOSYS) return {};
    return fail(error, "make a session keyring{}",
                error == EDQUOT ? " (the user's key quota is used up: raise the sysctl"
                                  " kernel.keys.maxkeys, or use --no-new-keyring)"
                                : "");
  }
  // A new keyring allows view and read to every process of the same uid, also in other containers.
  if (::syscall(SYS_keyctl, KEYCTL_SETPERM, keyring, kPossessorAll) != 0)
    return fail(errno, "narrow the rights to the session keyring");
  return {};
}

}  // namespace ocirun::linux
