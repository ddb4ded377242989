#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "linux/seccomp/filter.hpp"

namespace ocirun::linux {
namespace {

long seccomp(unsigned operation, unsigned long flags, const void* arguments) {
  return ::syscall(SYS_seccomp, operation, flags, arguments);
}

// seccomp(2) checks the flags before the program, so with a null program EFAULT means that the
// flags are supported.
bool kernel_takes(std::uint32_t flags) {
  if (flags & SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
  return seccomp(SECCOMP_SET_MODE_FILTER, flags, nullptr) < 0 && errno == EFAULT;
}

std::string_view advice(int error) {
  if (error == EACCES) return " (needs /process/noNewPrivileges or CAP_SYS_ADMIN)";
  if (error == EBUSY) return " (another filter of this process has a listener already)";
  if (error == ENOSYS) return " (the kernel was built without seccomp filters)";
  return "";
}

}  // namespace

std::vector<std::string_view> supported_seccomp_flags() {
  std::vector<std::string_view> supported;
  for (const std::string_view name : seccomp_flag_names())
    if (kernel_takes(seccomp_flag(name).value_or(0))) supported.push_back(name);
  return supported;
}

std::uint32_t default_seccomp_flags() {
  constexpr std::uint32_t kDefault = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  return kernel_takes(kDefault) ? kDefault : 0;
}

Result<UniqueFd> load_seccomp(const SeccompFilter& filter) {
  std::uint32_t flags = filter.flags;
  if (filter.notify) {
    flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // Both flags use the return value: for the listener, and for the thread that could not be
    // synchronized. Since Linux 5.7 they can be combined, with ESRCH for the latter.
    if (flags & SECCOMP_FILTER_FLAG_TSYNC) flags |= SECCOMP_FILTER_FLAG_TSYNC_ESRCH;
  }
  const sock_fprog program{.len = static_cast<unsigned short>(filter.program.size()),
                           .filter = const_cast<sock_filter*>(filter.program.data())};
  const long answer = seccomp(SECCOMP_SET_MODE_FILTER, flags, &program);
  if (answer < 0) {
    const int error = errno;
    return fail(error, "load the seccomp filter{}", advice(error));
  }
  if (filter.notify) return UniqueFd(static_cast<int>(answer));
  if (answer > 0) return refuse("load the seccomp filter: thread {} cannot follow", answer);
  return UniqueFd();
}

}  // namespace ocirun::linux
