#include "linux/seccomp/learn.hpp"

#include <fmt/format.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "linux/seccomp/program.hpp"

namespace ocirun::linux {
namespace {

/// Receives one call and lets it go on. False: nobody waits any more.
bool note_call(Fd listener, std::set<UsedCall>& calls) {
  seccomp_notif call{};  // the kernel refuses a structure that is not zeroed
  if (::ioctl(listener.value, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
    return errno == EINTR || errno == ENOENT;  // the caller was killed meanwhile
  calls.insert({.architecture = call.data.arch, .number = call.data.nr});
  seccomp_notif_resp answer{};
  answer.id = call.id;
  answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(listener.value, SECCOMP_IOCTL_NOTIF_SEND, &answer);
  return true;
}

}  // namespace

SeccompFilter learning_filter(SeccompFilter filter) {
  Program program;
  if (certainly_allows(filter, SYS_write)) {
    program.push_back(load(offsetof(seccomp_data, nr)));
    program.push_back(jump(BPF_JEQ, SYS_write, 0, 1));
    program.push_back(return_answer(SECCOMP_RET_ALLOW));
  }
  for (sock_filter instruction : filter.program) {
    if (instruction.code == (BPF_RET | BPF_K) && instruction.k == SECCOMP_RET_ALLOW)
      instruction.k = SECCOMP_RET_USER_NOTIF;
    program.push_back(instruction);
  }
  filter.program = std::move(program);
  filter.notify = true;
  return filter;
}

std::set<UsedCall> note_calls(Fd listener, Fd stop) {
  constexpr std::chrono::seconds kLastCalls{1};
  std::set<UsedCall> calls;
  std::array<pollfd, 2> watched{pollfd{listener.value, POLLIN, 0}, pollfd{stop.value, POLLIN, 0}};
  auto end = std::chrono::steady_clock::time_point::max();
  while (std::chrono::steady_clock::now() < end) {
    const bool is_stopping = watched[1].fd < 0;
    if (::poll(watched.data(), watched.size(), is_stopping ? 10 : -1) < 0 && errno != EINTR) break;
    if ((watched[0].revents & POLLIN) != 0) {
      if (!note_call(listener, calls)) break;
    } else if (watched[0].revents != 0) {
      break;  // POLLHUP: no process is under the filter
    }
    if (!is_stopping && watched[1].revents != 0) {
      watched[1].fd = -1;
      end = std::chrono::steady_clock::now() + kLastCalls;
    }
  }
  return calls;
}

std::set<std::string> names_of(const std::set<UsedCall>& calls, std::vector<std::string>& unknown) {
  std::set<std::string> names;
  for (const UsedCall& call : calls) {
    const bool is_x32 = call.architecture == SCMP_ARCH_X86_64 &&
                        (static_cast<std::uint32_t>(call.number) & kX32Bit) != 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        ::seccomp_syscall_resolve_num_arch(is_x32 ? SCMP_ARCH_X32 : call.architecture, call.number),
        &std::free);
    if (name)
      names.insert(name.get());
    else
      unknown.push_back(fmt::format("{} of the architecture {:#x}", call.number, call.architecture));
  }
  return names;
}

}  // namespace ocirun::linux
