#include "linux/process/core_scheduling.hpp"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/prctl.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"

namespace ocirun::linux {
namespace {

// The second last argument of PR_SCHED_CORE: what `pid` is the number of.
constexpr unsigned long kThread = PR_SCHED_CORE_SCOPE_THREAD;
constexpr unsigned long kProcess = PR_SCHED_CORE_SCOPE_THREAD_GROUP;

Result<void> change(unsigned long command, int pid, unsigned long scope) {
  if (::prctl(PR_SCHED_CORE, command, pid, scope, 0) == 0 || errno == ENODEV) return {};
  return fail(errno, "core scheduling (CONFIG_SCHED_CORE, Linux 5.14)");
}

}  // namespace

CoreScheduling core_scheduling() {
  const auto own = core_cookie_of(0);
  if (own) return CoreScheduling::kThere;
  if (own.error().number() != ENODEV) return CoreScheduling::kMissing;
  const auto control = sys::open("/sys/devices/system/cpu/smt/control", O_RDONLY | O_CLOEXEC);
  const auto text = control ? sys::read_all(*control, 64) : std::unexpected(control.error());
  return text && *text == "off\n" ? CoreScheduling::kOff : CoreScheduling::kNeedless;
}

Result<void> make_core_cookie() { return change(PR_SCHED_CORE_CREATE, 0, kProcess); }

// The kernel takes a cookie for one thread at a time. The caller has one thread.
Result<void> take_core_cookie(int pid) { return change(PR_SCHED_CORE_SHARE_FROM, pid, kThread); }

Result<std::uint64_t> core_cookie_of(int pid) {
  std::uint64_t cookie = 0;
  if (::prctl(PR_SCHED_CORE, PR_SCHED_CORE_GET, pid, kThread, &cookie) != 0)
    return fail(errno, "read the core scheduling cookie");
  return cookie;
}

}  // namespace ocirun::linux
