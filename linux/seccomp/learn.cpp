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
#include <string_view>
#include <utility>

#include "linux/seccomp/program.hpp"

namespace ocirun::linux {
namespace {

constexpr std::string_view kWaitKillable = "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV";

std::uint32_t architecture_of(const UsedCall& call) {
  const bool is_x32 = call.architecture == SCMP_ARCH_X86_64 &&
                      (static_cast<std::uint32_t>(call.number) & kX32Bit) != 0;
  return is_x32 ? SCMP_ARCH_X32 : call.architecture;
}

std::string name_of(const UsedCall& call) {
  const std::unique_ptr<char, decltype(&std::free)> name(
      ::seccomp_syscall_resolve_num_arch(architecture_of(call), call.number), &std::free);
  return name ? name.get() : "";
}

/// The calls so far. A program may make up any number: few of those without a name are kept.
class Noted {
 public:
  void add(const UsedCall& call) {
    if (calls_.contains(call)) return;
    if (name_of(call).empty()) {
      if (without_name_ == kMostWithoutName) return;
      ++without_name_;
    }
    calls_.insert(call);
  }
  std::set<UsedCall> take() && { return std::move(calls_); }

 private:
  static constexpr int kMostWithoutName = 100;
  std::set<UsedCall> calls_;
  int without_name_ = 0;
};

/// Receives one call and lets it go on. False: nobody waits any more.
bool note_call(Fd listener, Noted& noted) {
  seccomp_notif call{};  // the kernel refuses a structure that is not zeroed
  if (::ioctl(listener.value, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0)
    return errno == EINTR || errno == ENOENT;  // the caller was killed meanwhile
  noted.add({.architecture = call.data.arch, .number = call.data.nr});
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
    program.push_back(load(offsetof(seccomp_data, arch)));
    program.push_back(jump(BPF_JEQ, ::seccomp_arch_native(), 0, 3));
    program.push_back(load(offsetof(seccomp_data, nr)));
    program.push_back(jump(BPF_JEQ, SYS_write, 0, 1));
    program.push_back(return_answer(SECCOMP_RET_ALLOW));
  }
  for (sock_filter instruction : filter.program) {
    const std::uint32_t action = instruction.k & SECCOMP_RET_ACTION_FULL;
    if (instruction.code == (BPF_RET | BPF_K) &&
        (action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG))
      instruction.k = SECCOMP_RET_USER_NOTIF;
    program.push_back(instruction);
  }
  filter.program = std::move(program);
  filter.notify = true;
  for (const std::string_view flag : supported_seccomp_flags())
    if (flag == kWaitKillable) filter.flags |= seccomp_flag(flag).value_or(0);
  return filter;
}

std::set<UsedCall> note_calls(Fd listener, Fd stop) {
  constexpr std::chrono::seconds kLastCalls{1};
  Noted noted;
  std::array<pollfd, 2> watched{pollfd{listener.value, POLLIN, 0}, pollfd{stop.value, POLLIN, 0}};
  auto end = std::chrono::steady_clock::time_point::max();
  while (std::chrono::steady_clock::now() < end) {
    const bool is_stopping = watched[1].fd < 0;
    if (::poll(watched.data(), watched.size(), is_stopping ? 10 : -1) < 0 && errno != EINTR) break;
    if ((watched[0].revents & POLLIN) != 0) {
      if (!note_call(listener, noted)) break;
    } else if (watched[0].revents != 0) {
      break;  // POLLHUP: no process is under the filter
    }
    if (!is_stopping && watched[1].revents != 0) {
      watched[1].fd = -1;
      end = std::chrono::steady_clock::now() + kLastCalls;
    }
  }
  return std::move(noted).take();
}

LearnedCalls in_words(const std::set<UsedCall>& calls) {
  LearnedCalls words;
  for (const UsedCall& call : calls) {
    std::string name = name_of(call);
    if (name.empty()) {
      words.unknown.push_back(fmt::format(
          "the system call {} of the architecture {:#x} has no name here: it is left out",
          call.number, call.architecture));
      continue;
    }
    words.names.insert(std::move(name));
    words.architectures.emplace(seccomp_architecture_name(architecture_of(call)));
  }
  return words;
}

}  // namespace ocirun::linux
