#include "runtime/parent/agent.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/outer_filter.hpp"
#include "linux/mounts/terminal.hpp"
#include "linux/process/pidfd.hpp"
#include "runtime/foreground/attend.hpp"
#include "runtime/protocol/protocol.hpp"

namespace ocirun::runtime {
namespace {

constexpr int kListenerTries = 10'000;  // times 1 ms

bool is_seccomp_listener(Fd fd) {
  __u64 nobody = 0;
  return ::ioctl(fd.value, SECCOMP_IOCTL_NOTIF_ID_VALID, &nobody) == 0 || errno == ENOENT;
}

// Polls for descriptor `number` of the child, which exists when the child's seccomp(2) has
// returned. The child cannot report the return, because the filter may hold up the message.
Result<UniqueFd> take_listener(Fd pidfd, int number) {
  if (pidfd.value < 0)
    return fail(ENOSYS, "take the seccomp listener from its process: {}",
                linux::why_absent(SYS_pidfd_open, "pidfd_open, Linux 5.3"));
  for (int i = 0; i < kListenerTries; ++i) {
    auto listener = linux::copy_descriptor(pidfd, number);
    if (listener && is_seccomp_listener(*listener)) return listener;
    if (!listener && listener.error().number() != EBADF) return listener;
    ::usleep(1000);
  }
  return refuse("the seccomp listener did not appear within {} s", kListenerTries / 1000);
}

}  // namespace

Result<UniqueFd> receive_terminal(const linux::Packet& packet, Fd console) {
  if (packet.descriptors.size() != 1) return fail(EPROTO, "Terminal without a descriptor");
  return deliver_terminal(packet.descriptors.front(), console);
}

Result<UniqueFd> deliver_terminal(Fd terminal, Fd console) {
  if (console.value >= 0) {
    OCIRUN_TRY(within(linux::send_descriptor(console, terminal, "/dev/ptmx"),
                      "--console-socket: send the terminal"));
    return UniqueFd();
  }
  UniqueFd kept(::fcntl(terminal.value, F_DUPFD_CLOEXEC, 3));
  if (!kept) return fail(errno, "duplicate the terminal's descriptor");
  prepare_relay(kept);
  return kept;
}

Result<UniqueFd> receive_listener(const linux::Packet& packet, const linux::Child& child) {
  OCIRUN_TRY_ASSIGN(const int number, parse_number(packet.payload));
  return take_listener(child.pidfd, number);
}

Result<void> send_listener(const linux::Packet& packet, const linux::Child& child,
                           const linux::SeccompProfile& profile,
                           const bundle::StateDocument& state) {
  OCIRUN_TRY_ASSIGN(const UniqueFd listener, receive_listener(packet, child));
  OCIRUN_TRY_ASSIGN(const UniqueFd agent, within(linux::connect_unix(profile.listener_path),
                                                 "/linux/seccomp/listenerPath"));
  return within(
      linux::send_descriptor(agent, listener,
                             bundle::seccomp_state(state, child.pid, profile.listener_metadata)),
      "/linux/seccomp/listenerPath: send the listener");
}

std::unexpected<Error> no_answer_of_agent(const linux::SeccompProfile& profile,
                                          std::chrono::seconds so_far) {
  return refuse("/linux/seccomp/listenerPath: the agent at {} has not answered for {} s",
                profile.listener_path.string(), so_far.count());
}

}  // namespace ocirun::runtime
